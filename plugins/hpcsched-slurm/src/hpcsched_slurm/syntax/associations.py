"""Associations of Slurm: accounts and their users, with shares and usage; priorities of QOS.

Read are the tables that `sshare --all --long --parsable2` and `sacctmgr --parsable2 show qos
format=Name,Priority` print. Source: the manual pages `sshare` and `sacctmgr` of SchedMD, and what
Slurm 22.05.8, 24.11.5 and 26.05.5 print.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

ROOT: Final = "root"
"""Name of the account at the root of the tree."""

PARENT: Final = "parent"
"""Shares of an association that counts with those of its parent."""

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


def parse_qos_priorities(text: str) -> dict[str, int]:
    r"""Return the priorities of QOS by name.

    Raises
    ------
    TableError
        If the text is no such table, or a part of it cannot be read.

    Examples
    --------
    >>> parse_qos_priorities("Name|Priority\nnormal|0\nexpress|10\n")
    {'normal': 0, 'express': 10}
    """
    return {
        row["Name"].strip(): _whole(row["Priority"], 0, "Priority", number)
        for number, row in _rows(text, ("Name", "Priority"), "sacctmgr --parsable2 show qos")
    }


def _rows(
    text: str, needed: tuple[str, ...], command: str
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the number and the values of each line below the one that names the columns."""
    names: list[str] = []
    # Not splitlines: names may hold other characters that end lines.
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        if not names and "|" in line:
            names = [name.strip() for name in line.split("|")]
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
    """

    account: str
    user: str | None
    parent: str | None
    shares: int | None
    usage: int = 0
    partition: str | None = None


class Associations(NamedTuple):
    """Content of a table of associations.

    Attributes
    ----------
    classic
        True if the factors there are those of the classic formula, not of Fair Tree; None: the
        columns do not tell.
    limits
        Names of limits of associations, which are not read.
    """

    listed: tuple[SlurmAssociation, ...]
    classic: bool | None
    limits: tuple[str, ...]


def parse_associations(text: str) -> Associations:
    """Return the associations that `sshare` lists.

    Raises
    ------
    TableError
        If the text is no such table, or a part of it cannot be read.
    """
    found: list[SlurmAssociation] = []
    limits: dict[str, None] = {}
    above: list[str] = []
    names: set[str] = set()
    command = "sshare --all --long --parsable2"
    for number, row in _rows(text, ("Account", "User", "RawShares"), command):
        names.update(row)
        account, user = row["Account"].strip(), row["User"].strip() or None
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
        if row.get("GrpTRESMins", "").strip() not in {"", "N/A"}:
            limits["GrpTRESMins"] = None
        shares: int | None = None
        if row["RawShares"].strip().lower() != PARENT:
            shares = _whole(row["RawShares"], 1, "shares", number)
        usage = _whole(row.get("RawUsage", ""), 0, "RawUsage", number)
        partition = row.get("Partition", "").strip() or None
        shares = None if shares == _PARENT_NUMBER else shares
        found.append(SlurmAssociation(account, user, parent, shares, usage, partition))
    # Only Fair Tree has level fair shares; they are left out without `--long`, as is NormUsage.
    classic = "LevelFS" not in names if "NormUsage" in names else None
    return Associations(tuple(found), classic, tuple(limits))


def _whole(text: str, default: int, what: str, line: int) -> int:
    number = text.strip() or str(default)
    if not re.fullmatch(r"[0-9]{1,18}", number):
        raise TableError(f"expected {what} as a whole number, found {number!r}", line)
    return int(number)
