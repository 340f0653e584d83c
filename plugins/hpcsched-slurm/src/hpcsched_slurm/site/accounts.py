"""The accounts of a scenario, from associations of Slurm."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import MOST_TEXT
from hpcsched.scenario.document import parse_document, read_text
from hpcsched.scenario.faults import sentence
from hpcsched.scenario.policy_declarations import DeclaredAccounts
from hpcsched_slurm.site.yaml_text import one_line, scalar
from hpcsched_slurm.syntax.associations import (
    PARENT,
    ROOT,
    Associations,
    SlurmAssociation,
    TableError,
    parse_associations,
    parse_qos_priorities,
)

FIRST_ABSENT = 2**32
"""Number of the first user whom the trace does not have: above all numbers of users of a system."""

_NAMED = re.compile(r"(User|Group): (\d+) (.+)")
_MOST_NAMED = 10


class TraceNames(NamedTuple):
    """Numbers of the users and the groups in a trace, by name."""

    users: Mapping[str, int]
    groups: Mapping[str, int]

    @classmethod
    def of_comments(cls, comments: Iterable[str]) -> Self:
        """Return the names in the comments of a trace that was read.

        Examples
        --------
        >>> TraceNames.of_comments(["User: 3 ann", "Group: 1 physics"])
        TraceNames(users={'ann': 3}, groups={'physics': 1})
        """
        found: dict[str, dict[str, int]] = {"User": {}, "Group": {}}
        for match in filter(None, map(_NAMED.fullmatch, comments)):
            found[match[1]][match[3]] = int(match[2])
        return cls(found["User"], found["Group"])


class AccountsBlock(NamedTuple):
    """Keys of a scenario as YAML, and sentences on what they leave out."""

    text: str
    left_out: tuple[str, ...]


def read_accounts(path: Path, qos: Path | None) -> tuple[Associations, dict[str, int]]:
    """Return the associations in a file, and the priorities of QOS in another, by name.

    Raises
    ------
    InputError
        If one cannot be read or is not as Slurm prints it.
    """
    file = path
    try:
        associations = parse_associations(read_text(path, MOST_TEXT))
        if qos is None:
            return associations, {}
        file = qos
        return associations, parse_qos_priorities(read_text(qos, MOST_TEXT))
    except TableError as error:
        raise _fault(str(error), file, error.line) from None


def accounts_block(
    associations: Associations,
    names: TraceNames,
    source: Path,
    qos: Mapping[str, int] = MappingProxyType({}),
) -> AccountsBlock:
    """Return the keys `accounts` and `qos` of a scenario, after comments on omissions.

    Users of the tree that the trace does not have count in it, as in Slurm; they get numbers from
    `FIRST_ABSENT` on.

    Raises
    ------
    InputError
        If the accounts make no tree, or the trace names no user.
    """
    if not names.users:
        message = (
            "expected a trace with names of users, found none: `slurm-sacct` takes them from the"
            " column User, `slurm-history` from each kind of file"
        )
        raise _fault(message, source)
    tree, left_out = _tree(associations.listed)
    members = [one for account in tree.values() for one in account.users]
    # Sorted: the numbers are the same whatever the order of the file.
    absent = sorted({str(one.user) for one in members} - names.users.keys())
    numbers = {**names.users, **dict(zip(absent, count(FIRST_ABSENT), strict=False))}
    left_out += _former_usage(tree)
    if associations.limits:
        left_out.append(f"limits: {', '.join(associations.limits)}")
    left_out += _charged_to_first(tree, names)
    if associations.classic:
        left_out.append("the classic formula, which is fair_share: classic of the order")
    comments = [f"From {source.name}: {len(tree)} accounts, {len(members)} users in them."]
    if absent:
        comments.append(f"Not in the trace: {_listed(absent)}.")
    lines = [f"# {one_line(text)}" for text in (*comments, *left_out)]
    lines += ["accounts:" if tree else "accounts: {}"]
    for name, account in tree.items():
        lines += _account_lines(name, account, numbers, names.groups)
    if qos:
        lines.append("qos:")
        lines += [f"  {scalar(name)}: {{priority: {one}}}" for name, one in qos.items()]
    text = "".join(f"{line}\n" for line in lines)
    _check(text, source)
    return AccountsBlock(text, tuple(left_out))


class _Account(NamedTuple):
    """An account of the tree, and the users in it."""

    own: SlurmAssociation
    users: list[SlurmAssociation]


def _tree(listed: Sequence[SlurmAssociation]) -> tuple[dict[str, _Account], list[str]]:
    """Return the accounts by name, and sentences on associations that are left out."""
    tree: dict[str, _Account] = {}
    by_partition: dict[str, None] = {}
    # Users right below the root are in an account that counts as the root.
    root = _Account(SlurmAssociation(ROOT, None, None, None), [])
    for one in listed:
        if one.user is None and one.account != ROOT:
            tree.setdefault(one.account, _Account(one, []))
    # Associations with any partition first: of several of a user, the first one counts.
    for one in sorted(listed, key=lambda one: one.partition is not None):
        if one.user is None:
            continue
        account = root if one.account == ROOT else tree.get(one.account)
        if account is None:
            # A table of some of the accounts only.
            account = tree[one.account] = _Account(SlurmAssociation(one.account, None, ROOT, 1), [])
        if any(one.user == other.user for other in account.users):
            by_partition[f"{one.user} in {one.account}, {one.partition}"] = None
        else:
            account.users.append(one)
    left_out = []
    if by_partition:
        left_out.append(f"further associations by partition: {_listed(by_partition)}")
    return ({ROOT: root} if root.users else {}) | tree, left_out


def _former_usage(tree: Mapping[str, _Account]) -> Iterator[str]:
    """Yield a sentence for each account with more usage than its users and accounts have."""
    for name, account in tree.items():
        if name == ROOT:
            continue
        below = [one.own for one in tree.values() if one.own.parent == name]
        parts = [one.usage for one in (*account.users, *below)]
        rest = account.own.usage - sum(parts)
        # Each printed number was rounded down.
        if rest > len(parts) + 1:
            yield f"usage of {name} by users whom it no longer has: {rest}"


def _charged_to_first(tree: Mapping[str, _Account], names: TraceNames) -> Iterator[str]:
    """Yield a sentence for each user of several accounts that jobs of the trace do not name."""
    accounts: dict[str, list[str]] = {}
    for name, account in tree.items():
        for one in account.users:
            accounts.setdefault(str(one.user), []).append(name)
    for user, several in accounts.items():
        unnamed = [name for name in several if name not in names.groups]
        if len(several) > 1 and unnamed and user in names.users:
            yield (
                f"{user} is in {', '.join(several)}: jobs without one of these as their group are"
                f" charged to {several[0]}"
            )


def _account_lines(
    name: str, account: _Account, numbers: Mapping[str, int], groups: Mapping[str, int]
) -> Iterator[str]:
    own = account.own
    yield f"  {scalar(name)}:"
    if own.parent not in {None, ROOT}:
        yield f"    parent: {scalar(str(own.parent))}"
    yield f"    shares: {_shares(own)}"
    if name in groups:
        yield f"    groups: [{groups[name]}]"
    if account.users:
        yield "    users:"
        for one in account.users:
            yield f"      {numbers[str(one.user)]}: {_shares(one)}  # {one_line(str(one.user))}"
    used = [one for one in account.users if one.usage]
    if used:
        yield "    usage:"
        for one in used:
            yield f"      {numbers[str(one.user)]}: {one.usage}"


def _shares(one: SlurmAssociation) -> str:
    return PARENT if one.shares is None else str(one.shares)


def _listed(names: Iterable[str]) -> str:
    known = [one_line(name) for name in names]
    more = len(known) - _MOST_NAMED
    told = ", ".join(known[:_MOST_NAMED])
    return f"{told} and {more} others" if more > 0 else told


def _check(text: str, source: Path) -> None:
    """Raise InputError where the keys are not valid."""
    # The text itself is checked, as it is what the user gets.
    document = parse_document(text)
    value: Mapping[str, Any] = document.value
    try:
        TypeAdapter(DeclaredAccounts).validate_python(value["accounts"])
    except ValidationError as error:
        told = "; ".join(sentence(one) for one in error.errors())
        raise _fault(f"the accounts make no tree: {told}", source) from None


def _fault(message: str, path: Path, line: int | None = None) -> InputError:
    return InputError(Finding("bad-accounts", message, Place(str(path), line)))
