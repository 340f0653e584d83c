"""Associations of Slurm: accounts and their users, with shares and usage; priorities of QOS.

Read are the tables that `sshare --all --long --parsable2`, `sacctmgr --parsable2 show associations
tree` and `sacctmgr --parsable2 show qos` print, one after another in any order. Source: the manual
pages `sshare` and `sacctmgr` of SchedMD, and what Slurm 22.05.8, 24.11.5 and 26.05.5 print.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

ROOT: Final = "root"
"""Name of the account at the root of the tree."""

PARENT: Final = "parent"
"""Shares of an association that counts with those of its parent."""

_SAME = {
    "Share": "RawShares",
    "MaxTRES": "MaxTRESPerJob",
    "MinTRES": "MinTRESPerJob",
    "MaxTRESPU": "MaxTRESPerUser",
    "MaxJobsPU": "MaxJobsPerUser",
    "MaxTRESPA": "MaxTRESPerAccount",
    "MaxJobsPA": "MaxJobsPerAccount",
}
"""Columns that are printed under another name than the one that is asked for."""
OTHERS = ("MaxTRESRunMinsPA", "MaxTRESRunMinsPU", "UsageFactor", "UsageThres")
"""Columns that have an effect on limits and are not read."""
_LIMITS = (
    *("GrpTRES", "GrpJobs", "GrpWall", "GrpTRESMins", "GrpTRESRunMins", "MaxJobs", "MaxWall"),
    *("MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMins", "MaxTRESPerUser", "MaxJobsPerUser"),
    *("MaxTRESPerAccount", "MaxJobsPerAccount", "MinTRESPerJob"),
    *("LimitFactor", *OTHERS),
)
"""Columns with limits."""
_PREEMPTION = ("Preempt", "PreemptMode", "PreemptExemptTime", "GraceTime")
_NONE = {"", "N/A", "1.000000"}
_PARENT_NUMBER = 2**31 - 1
"""The number that stands for `parent`."""


class TableError(ValueError):
    """Fault of a table.

    Attributes
    ----------
    line
        Number of the line, from 1; None: the text as a whole.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


_COLUMNS = {
    "shares": {"Account", "User", "RawShares"},
    "associations": {"Account", "User", "Share"},
    "qos": {"Name", "Priority"},
}
"""Columns by which a table is recognised."""


def split_tables(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the kind and the text of each table, after as many empty lines as stand above it.

    Examples
    --------
    >>> list(split_tables("Name|Priority\nhigh|9\nAccount|User|Share\nroot||1\n"))
    [('qos', 'Name|Priority\nhigh|9'), ('associations', '\n\nAccount|User|Share\nroot||1\n')]
    """
    # Not splitlines: names may hold other characters that end lines.
    lines = re.split(r"\r?\n", text)
    heads = [
        (number, kind)
        for number, line in enumerate(lines)
        for kind, needed in _COLUMNS.items()
        if needed <= {name.strip() for name in line.split("|")}
    ]
    for (begin, kind), (end, _) in pairwise([*heads, (len(lines), "")]):
        yield kind, "\n" * begin + "\n".join(lines[begin:end])


class SlurmQos(NamedTuple):
    """A QOS: its priority, its limits by the names of `sacctmgr`, and the line that it is from.

    `preemption` has the columns on preemption.
    """

    priority: int
    limits: Mapping[str, str]
    flags: frozenset[str]
    line: int
    preemption: Mapping[str, str]


def parse_qos(text: str) -> dict[str, SlurmQos]:
    r"""Return the QOS by name.

    Raises
    ------
    TableError
        If the text is no such table, or a part of it cannot be read.

    Examples
    --------
    >>> parse_qos("Name|Priority|MaxJobsPU\nlow|2|7\n")["low"]
    SlurmQos(priority=2, limits={'MaxJobsPerUser': '7'}, flags=frozenset(), line=2, preemption={})
    """
    return {
        row["Name"].strip(): SlurmQos(
            _whole(row["Priority"], 0, "Priority", number),
            _given(row),
            frozenset(filter(None, row.get("Flags", "").split(","))),
            number,
            _given(row, _PREEMPTION),
        )
        for number, row in _rows(text, ("Name", "Priority"), "sacctmgr --parsable2 show qos")
    }


def _given(row: Mapping[str, str], columns: Iterable[str] = _LIMITS) -> dict[str, str]:
    values = {name: row.get(name, "").strip() for name in columns}
    return {name: value for name, value in values.items() if value not in _NONE}


def _rows(
    text: str, needed: tuple[str, ...], command: str
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the number and the values of each line below the one that names the columns."""
    names: list[str] = []
    # Not splitlines: names may hold other characters that end lines.
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        if not names and "|" in line:
            names = [_SAME.get(name.strip(), name.strip()) for name in line.split("|")]
            missing = [name for name in needed if name not in names]
            if missing:
                told = f"expected the columns {', '.join(needed)}, found no {missing[0]}"
                raise TableError(told, number)
        elif names and line.strip():
            values = line.split("|")
            if len(values) != len(names):
                raise TableError(f"expected {len(names)} columns, found {len(values)}", number)
            yield number, dict(zip(names, values, strict=True))
    if not names:
        raise TableError(f"expected what `{command}` prints")


@dataclass(frozen=True, slots=True)
class SlurmAssociation:
    """An account, or a user in an account.

    Attributes
    ----------
    user
        Name of the user; None: the account itself.
    parent
        Account that the account is part of; None for users and the root.
    shares
        Raw shares; None: `parent`.
    usage
        Raw usage, in core-seconds without `TRESBillingWeights`.
    partition
        Partition to which the association is restricted; None: any.
    limits
        Limits by the names of `sacctmgr`, those inherited included.
    line
        Line that it is from.
    """

    account: str
    user: str | None
    parent: str | None
    shares: int | None
    usage: int = 0
    partition: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    line: int = field(default=0, compare=False)


class Associations(NamedTuple):
    """Content of a table of associations.

    Attributes
    ----------
    classic
        True if the factors there are those of the classic formula, not of Fair Tree; None: the
        columns do not tell.
    """

    listed: tuple[SlurmAssociation, ...]
    classic: bool | None


def parse_associations(text: str) -> Associations:
    """Return the associations that `sshare` or `sacctmgr` lists.

    Raises
    ------
    TableError
        If the text is no such table, or a part of it cannot be read.
    """
    found: list[SlurmAssociation] = []
    above: list[str] = []
    names: set[str] = set()
    clusters: set[str] = set()
    command = "sshare --all --long --parsable2"
    for number, row in _rows(text, ("Account", "User", "RawShares"), command):
        names.update(row)
        account, user = row["Account"].strip(), row["User"].strip() or None
        clusters.add(row.get("Cluster", ""))
        if len(clusters) > 1:
            told = f"expected one cluster, found {', '.join(sorted(clusters))}: add cluster=NAME"
            raise TableError(told, number)
        depth = len(row["Account"]) - len(row["Account"].lstrip())
        parent = None
        if user is None:
            # Each level is indented by a space; the accounts above are those listed last.
            if depth > len(above):
                raise TableError("expected its parent above it, found none", number)
            above[depth:] = [account]
            parent = above[depth - 1] if depth else None
            if not depth and account != ROOT:
                told = f"expected the root of the tree, found {account}: print all accounts (--all)"
                raise TableError(told, number)
        elif account not in above:
            raise TableError(f"expected the account {account} above its user", number)
        shares: int | None = None
        if row["RawShares"].strip().lower() != PARENT:
            shares = _whole(row["RawShares"], 1, "shares", number)
        usage = _whole(row.get("RawUsage", ""), 0, "RawUsage", number)
        partition = row.get("Partition", "").strip() or None
        shares = None if shares == _PARENT_NUMBER else shares
        found.append(
            SlurmAssociation(
                *(account, user, parent, shares, usage, partition), _given(row), number
            )
        )
    # Only Fair Tree has level fair shares; they are left out without `--long`, as is NormUsage.
    classic = "LevelFS" not in names if "NormUsage" in names else None
    return Associations(tuple(found), classic)


def _whole(text: str, default: int, what: str, line: int) -> int:
    number = text.strip() or str(default)
    if not re.fullmatch(r"[0-9]{1,18}", number):
        raise TableError(f"expected {what} as a whole number, found {number!r}", line)
    return int(number)
