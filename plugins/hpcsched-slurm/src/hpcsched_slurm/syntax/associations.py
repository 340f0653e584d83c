"""Associations of Slurm: accounts and their users, with shares and usage.

Four forms are read: what `sshare` prints (`sshare --all --long --parsable2`), the same as JSON
(`sshare --all --json`; slurmrestd answers it at `/slurm/v0.0.4x/shares`), the file of
`sacctmgr dump CLUSTER file=FILE`, and JSON with a list of associations, which slurmrestd answers
at `/slurmdb/v0.0.4x/associations` and `sacctmgr show associations --json` prints.

Source: the manual pages `sshare` and `sacctmgr` of SchedMD, recorded answers of v0.0.38, and what
Slurm 24.11.5 and 26.05.5 print.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

QOS_EXAMPLE = "what `sacctmgr show qos` prints with `--json`, or with `--parsable2`"
"""The two forms, for messages."""


class QosError(ValueError):
    """Fault of a text with QOS.

    Attributes
    ----------
    line
        Number of the line, from 1; None: the text as a whole.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_qos_priorities(text: str) -> dict[str, int]:
    r"""Return the priorities of a text in one of the two forms, by name.

    Raises
    ------
    QosError
        If the text is in neither of them, or a part of it cannot be read.

    Examples
    --------
    >>> parse_qos_priorities("Name|Priority\nnormal|0\nexpress|10\n")
    {'normal': 0, 'express': 10}
    """
    if text.lstrip().startswith("{"):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise QosError(f"expected JSON, found {error}") from error
        found = priorities_of_json(content)
        if found is None:
            raise QosError("expected a list 'qos', found none")
        return found
    lines = re.split(r"\r?\n", text)
    for number, line in enumerate(lines, 1):
        if "|" in line:
            return _of_table(lines, number)
    raise QosError(f"expected {QOS_EXAMPLE}")


def priorities_of_json(content: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the priorities of an object with a list of QOS; None if it has no such list.

    Raises
    ------
    QosError
        If a QOS cannot be read.
    """
    # v0.0.38 writes it in capitals.
    listed = content.get("qos", content.get("QOS"))
    if not isinstance(listed, list):
        return None
    found = {}
    for position, one in enumerate(listed):
        try:
            priority = one["priority"]
            if isinstance(priority, Mapping):
                priority = priority["number"] if priority["set"] else 0
            found[str(one["name"])] = _priority(str(priority), None)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            told = f"no field {error.args[0]}" if isinstance(error, KeyError) else str(error)
            raise QosError(f"qos[{position}]: {told}") from error
    return found


def _of_table(lines: list[str], header: int) -> dict[str, int]:
    """Return the priorities of a table; line `header` names the columns."""
    names = [name.strip() for name in lines[header - 1].split("|")]
    missing = [name for name in ("Name", "Priority") if name not in names]
    if missing:
        raise QosError(f"expected the columns Name, Priority, found no {missing[0]}", header)
    found = {}
    for number, line in enumerate(lines[header:], header + 1):
        if not line.strip():
            continue
        values = line.split("|")
        if len(values) != len(names):
            raise QosError(f"expected {len(names)} columns, found {len(values)}", number)
        row = dict(zip(names, values, strict=True))
        found[row["Name"].strip()] = _priority(row["Priority"].strip() or "0", number)
    return found


def _priority(text: str, line: int | None) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise QosError(f"expected Priority as a whole number, found {text!r}", line)
    return int(text)


ROOT: Final = "root"
"""Name of the account at the root of the tree."""

PARENT: Final = "parent"
"""Shares of an association that counts with those of its parent."""

EXAMPLE = (
    "what `sshare --all` prints with `--long --parsable2` or with `--json`, the file of"
    " `sacctmgr dump`, or JSON with associations"
)
"""The four forms, for messages."""

_PARENT_NUMBER = 2**31 - 1
"""The number that stands for `parent` in a dump and in JSON."""
_COLUMNS = ("Account", "User", "RawShares")
_DUMPED = re.compile(r"(Cluster|QOS|Parent|Account|User) - '([^']*)'(.*)")
"""A line of a dump; those of QOS are there from Slurm 26.05 on."""
_OPTION = re.compile(
    r":((?:Admin|Coord|Def|Desc|Fair|Grp|Max|Min|Org|Part|Prio|QOS|Share|WCKey)\w*)=('[^']*'|[^:]*)",
    re.IGNORECASE,
)
"""An option by the beginnings of their names: a value may hold `:a100=4` too."""
_NO_LIMITS = frozenset(
    {"adminlevel", "coordinator", "defaultaccount", "defaultwckey", "description", "fairshare",
     "organization", "partition", "wckeys"}
)  # fmt: skip


class AssociationsError(ValueError):
    """Fault of a file of associations.

    Attributes
    ----------
    line
        Number of the line, from 1; None: the file as a whole.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


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
        Raw usage, in core-seconds without `TRESBillingWeights`; 0 where the form has none.
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
    """Content of a file of associations.

    Attributes
    ----------
    classic
        True if the factors there are those of the classic formula, not of Fair Tree; None: the form
        does not tell.
    limits
        Names of limits of associations, which are not read.
    qos
        Priorities of QOS by name; None where the form has none.
    """

    listed: tuple[SlurmAssociation, ...]
    classic: bool | None
    has_usage: bool
    limits: tuple[str, ...]
    qos: Mapping[str, int] | None = None


def parse_associations(text: str) -> Associations:
    """Return the associations of a text in one of the four forms.

    Raises
    ------
    AssociationsError
        If the text is in none of them, or a part of it cannot be read.
    """
    if text.lstrip().startswith("{"):
        return _of_json(text)
    # Not splitlines: names may hold other characters that end lines.
    lines = re.split(r"\r?\n", text)
    if any(_DUMPED.fullmatch(line) for line in lines):
        return _of_dump(lines)
    for number, line in enumerate(lines, 1):
        if "|" in line:
            return _of_sshare(lines, number)
    raise AssociationsError(f"expected {EXAMPLE}")


def _of_sshare(lines: list[str], header: int) -> Associations:
    """Return the associations that `sshare` lists; line `header` names the columns."""
    names = [name.strip() for name in lines[header - 1].split("|")]
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        told = f"expected the columns {', '.join(_COLUMNS)} of sshare, found no {missing[0]}"
        raise AssociationsError(told, header)
    found: list[SlurmAssociation] = []
    limits: dict[str, None] = {}
    above: list[str] = []
    for number, line in enumerate(lines[header:], header + 1):
        if not line.strip():
            continue
        values = line.split("|")
        if len(values) != len(names):
            told = f"expected {len(names)} columns, found {len(values)}"
            raise AssociationsError(told, number)
        row = dict(zip(names, values, strict=True))
        account, user = row["Account"].strip(), row["User"].strip() or None
        depth = len(row["Account"]) - len(row["Account"].lstrip())
        parent = None
        if user is None:
            # Each level is indented by a space; the accounts above are those listed last.
            if depth > len(above):
                raise AssociationsError("expected its parent above it, found none", number)
            above[depth:] = [account]
            parent = above[depth - 1] if depth else None
            if not depth and account != ROOT:
                told = f"expected the root of the tree, found {account}: print all accounts (--all)"
                raise AssociationsError(told, number)
        elif account not in above:
            raise AssociationsError(f"expected the account {account} above its user", number)
        limits |= dict.fromkeys(
            name for name in ("GrpTRESMins",) if row.get(name, "").strip() not in {"", "N/A"}
        )
        shares = _shares(row["RawShares"].strip(), number)
        usage = _whole(row.get("RawUsage", "").strip() or "0", "RawUsage", number)
        partition = row.get("Partition", "").strip() or None
        found.append(SlurmAssociation(account, user, parent, shares, usage, partition))
    # Only Fair Tree has level fair shares; they are left out without `--long`, as is NormUsage.
    classic = "LevelFS" not in names if "NormUsage" in names else None
    return Associations(tuple(found), classic, "RawUsage" in names, tuple(limits))


def _of_dump(lines: list[str]) -> Associations:
    found: list[SlurmAssociation] = []
    limits: dict[str, None] = {}
    parent = ROOT
    clusters = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _DUMPED.fullmatch(line.strip())
        if match is None:
            told = f"expected a line such as User - 'ann':Fairshare=1, found {line[:60]!r}"
            raise AssociationsError(told, number)
        kind, name, rest = match.groups()
        options = {key.lower(): (key, value.strip("'")) for key, value in _OPTION.findall(rest)}
        # A dump has one tree; shares of two clusters cannot be compared.
        if kind == "Cluster":
            clusters += 1
            if clusters > 1:
                raise AssociationsError("expected one cluster, found another", number)
            continue
        if kind == "QOS":
            continue
        # The lines that follow belong to this account.
        if kind == "Parent":
            parent = name
            continue
        limits |= {key: None for low, (key, _) in options.items() if low not in _NO_LIMITS}
        shares = _shares(options.get("fairshare", ("", ""))[1], number)
        if kind == "Account":
            found.append(SlurmAssociation(name, None, parent, shares))
        else:
            partition = options.get("partition", ("", ""))[1] or None
            found.append(SlurmAssociation(parent, name, None, shares, 0, partition))
    return Associations(tuple(found), None, False, tuple(limits))


def _of_json(text: str) -> Associations:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssociationsError(f"expected JSON, found {error}") from error
    listed = content.get("associations")
    shares = content.get("shares")
    if listed is None and isinstance(shares, Mapping) and isinstance(shares.get("shares"), list):
        return _of_shares(shares["shares"])
    if not isinstance(listed, list):
        raise AssociationsError("expected a list 'associations', or of 'shares', found none")
    found, limits = _each(listed, "associations", _of_object, _limits)
    try:
        qos = priorities_of_json(content)
    except QosError as error:
        raise AssociationsError(str(error)) from error
    return Associations(found, None, False, limits, qos)


def _of_shares(listed: list[Any]) -> Associations:
    """Return the associations that `sshare --json` lists."""
    zeros: list[bool] = []

    def make(one: Mapping[str, Any]) -> SlurmAssociation:
        level = one["fairshare"]["level"]
        zeros.append(bool(level["set"]) and not level["number"])
        return _of_share(one)

    found, limits = _each(listed, "shares", make, _minutes)
    # Only Fair Tree has level fair shares; the classic formula leaves zeros, also at the root.
    return Associations(found, all(zeros), True, limits)


def _each(
    listed: list[Any],
    what: str,
    make: Callable[[Any], SlurmAssociation],
    limits_of: Callable[[Any], Iterable[str]],
) -> tuple[tuple[SlurmAssociation, ...], tuple[str, ...]]:
    """Return the associations of a list of objects, and the names of their limits."""
    found = []
    limits: dict[str, None] = {}
    for position, one in enumerate(listed):
        try:
            found.append(make(one))
            limits |= dict.fromkeys(limits_of(one))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            told = f"no field {error.args[0]}" if isinstance(error, KeyError) else str(error)
            raise AssociationsError(f"{what}[{position}]: {told}") from error
    clusters = sorted({str(one.get("cluster")) for one in listed})
    if len(clusters) > 1:
        raise AssociationsError(f"expected one cluster, found {', '.join(clusters)}")
    return tuple(found), tuple(limits)


def _of_share(one: Mapping[str, Any]) -> SlurmAssociation:
    name, parent = str(one["name"]), str(one["parent"] or "") or None
    shares, usage = one["shares"], one["usage"]
    raw = str(shares["number"]) if shares["set"] else ""
    user = "USER" in one["type"]
    if user and parent is None:
        raise ValueError(f"expected the account of user {name} as parent, found none")
    return SlurmAssociation(
        str(parent) if user else name,
        name if user else None,
        None if user else parent,
        _shares(raw, None),
        _whole(str(usage), "usage", None),
        str(one["partition"]) if one.get("partition") else None,
    )


def _minutes(one: Mapping[str, Any]) -> Iterator[str]:
    if any(amount["value"]["set"] for amount in one["tres"]["group_minutes"]):
        yield "GrpTRESMins"


def _of_object(one: Mapping[str, Any]) -> SlurmAssociation:
    account, user = str(one["account"]), one["user"] or None
    parent = one["parent_account"] or None
    # Of users, versions differ in whether this is their account.
    above = str(parent) if parent and user is None else None
    shares = one["shares_raw"]
    if isinstance(shares, Mapping):
        shares = shares["number"]
    return SlurmAssociation(
        account,
        None if user is None else str(user),
        above,
        _shares(str(shares), None),
        0,
        str(one["partition"]) if one.get("partition") else None,
    )


def _limits(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield `max` and `min` of an association if they hold limits."""
    for key in ("max", "min"):
        if _says_something(one.get(key)):
            yield key


def _says_something(value: Any) -> bool:
    """Return whether a nested value holds a number that is set."""
    if isinstance(value, Mapping):
        if "set" in value:
            return bool(value["set"])
        return any(map(_says_something, value.values()))
    if isinstance(value, list):
        return bool(value)
    return bool(value)


def _shares(text: str, line: int | None) -> int | None:
    """Return raw shares; None for `parent`, 1 if not given."""
    if text.lower() == PARENT:
        return None
    number = _whole(text or "1", "shares", line)
    return None if number == _PARENT_NUMBER else number


def _whole(text: str, what: str, line: int | None) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise AssociationsError(f"expected {what} as a whole number, found {text!r}", line)
    return int(text)
