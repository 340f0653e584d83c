"""The accounts of a scenario, from associations of Slurm."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from hpcsched_slurm.site.limits_text import limits_text
from hpcsched_slurm.site.preemption_text import of_qos
from hpcsched_slurm.site.yaml_text import commented, one_line, scalar
from hpcsched_slurm.syntax.associations import (
    PARENT,
    ROOT,
    Associations,
    SlurmAssociation,
    SlurmQos,
    TableError,
    parse_associations,
    parse_qos,
    split_tables,
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


class Tables(NamedTuple):
    """Content of tables of the accounting.

    Attributes
    ----------
    associations
        The last one that was read; None without any.
    source
        File of the associations.
    qos
        Each QOS by name.
    qos_source
        File of the QOS.
    """

    associations: Associations | None = None
    source: Path = Path()
    qos: Mapping[str, SlurmQos] = MappingProxyType({})
    qos_source: Path = Path()


def read_tables(paths: Sequence[Path]) -> Tables:
    """Return the content of files with tables of `sshare` and `sacctmgr`.

    Raises
    ------
    InputError
        If one cannot be read, has no such table, or has one that is not as Slurm prints it.
    """
    found = Tables()
    for path in paths:
        tables = list(split_tables(read_text(path, MOST_TEXT)))
        if not tables:
            commands = "`sacctmgr --parsable2 show associations tree`, `show qos` or `sshare -alP`"
            raise _fault(f"expected what {commands} prints", path)
        for kind, text in tables:
            try:
                if kind == "qos":
                    found = found._replace(qos=parse_qos(text), qos_source=path)
                # The tree of sacctmgr also has the limits.
                elif found.associations is None or kind == "associations":
                    found = found._replace(associations=parse_associations(text), source=path)
            except TableError as error:
                raise _fault(str(error), path, error.line) from None
    return found


def accounts_block(
    tables: Tables,
    names: TraceNames,
    types: Collection[str],
    *,
    whole: bool = False,
    enforced: bool = True,
) -> AccountsBlock:
    """Return the keys `accounts` and `qos` of a scenario, after comments on omissions.

    Users of the tree that the trace does not have count in it, as in Slurm; they get numbers from
    `FIRST_ABSENT` on.

    Parameters
    ----------
    types
        Resource types of the scenario.
    whole
        Whether the scenario has all that the site's configuration says; then the tables may be of
        a later day than the trace's first, so that their usage is left out.
    enforced
        Whether limits hold.

    Raises
    ------
    InputError
        If the accounts make no tree, or the trace names no user.
    """
    lines: list[str] = []
    left_out: list[str] = []
    loose: list[str] = []

    def limits(one: SlurmAssociation | SlurmQos, above: Mapping[str, str], who: str) -> str:
        # Limits of users and accounts are printed with those that they inherit.
        own = {k: v for k, v in one.limits.items() if k.startswith("Grp") or above.get(k) != v}
        if own and not enforced:
            loose.append(who)
            return ""
        of_user = isinstance(one, SlurmAssociation) and one.user is not None
        found = limits_text(own, types, of_user=of_user)
        left_out.extend(f"limit of {who}: {limit}" for limit in found.left_out)
        return f"limits: {found.text}" if found.text else ""

    if tables.associations is not None:
        listed = tables.associations
        if whole:
            without = tuple(replace(one, usage=0) for one in listed.listed)
            listed = Associations(without, None)
        tree = _accounts(listed, names, tables.source, limits, left_out)
        lines += tree
        if whole:
            # Users without an association count beside the accounts.
            lines = [f"{one}\n    other_users: true" if one == "  root:" else one for one in lines]
    if tables.qos:
        lines.append("qos:")
    for name, one in tables.qos.items():
        parts = [f"priority: {one.priority}"]
        if "Relative" in one.flags:
            left_out.append(f"limits of QOS {name}, which are shares of the cluster")
        else:
            parts.append(limits(one, {}, f"QOS {name}"))
        parts += ["over_partition: true"] if "OverPartQOS" in one.flags else []
        factor = one.limits.get("LimitFactor", "") if enforced else ""
        parts += [f"limit_factor: {factor}"] if factor.replace(".", "", 1).isdecimal() else []
        parts += of_qos(one.preemption)
        line = f"  {scalar(name)}: {{{', '.join(filter(None, parts))}}}"
        lines.append(commented(line, [Place(str(tables.qos_source), one.line)]))
    if loose:
        left_out.append(f"limits that AccountingStorageEnforce does not name: {_listed(loose)}")
    text = "".join(f"{line}\n" for line in (*(f"# {one_line(t)}" for t in left_out), *lines))
    _check(text, tables.source)
    return AccountsBlock(text, tuple(left_out))


_Limits = Callable[[SlurmAssociation, Mapping[str, str], str], str]
"""Returns the key `limits` of an association, without the limits of the one above it."""


def _accounts(
    associations: Associations,
    names: TraceNames,
    source: Path,
    limits: _Limits,
    left_out: list[str],
) -> Iterator[str]:
    """Yield the lines of `accounts`, and add sentences on what they leave out."""
    if not names.users:
        message = (
            "expected a trace with names of users, found none: `slurm-sacct` takes them from the"
            " column User, `slurm-history` from each kind of file"
        )
        raise _fault(message, source)
    tree, by_partition = _tree(associations.listed)
    members = [one for account in tree.values() for one in account.users]
    # Sorted: the numbers are the same whatever the order of the file.
    absent = sorted({str(one.user) for one in members} - names.users.keys())
    numbers = {**names.users, **dict(zip(absent, count(FIRST_ABSENT), strict=False))}
    left_out += [*by_partition, *_former_usage(tree), *_charged_to_first(tree, names)]
    if associations.classic:
        left_out.append("the classic formula, which is fair_share: classic of the order")
    yield f"# From {source.name}: {len(tree)} accounts, {len(members)} users in them."
    if absent:
        yield f"# Not in the trace: {_listed(absent)}."
    yield "accounts:" if tree else "accounts: {}"
    for name, account in tree.items():
        above = tree.get(account.own.parent or "", account).own
        own = limits(account.own, {} if above is account.own else above.limits, f"account {name}")
        yield from _account_lines(name, account, own, names.groups, source)
        if account.users:
            yield "    users:"
        for one in account.users:
            user = one_line(str(one.user))
            value = _shares(one)
            told = limits(one, account.own.limits, f"user {user} in {name}")
            value = f"{{shares: {value}, {told}}}" if told else value
            yield f"      {numbers[str(one.user)]}: {value}  # {user}"
        used = [one for one in account.users if one.usage]
        if used:
            yield "    usage:"
        for one in used:
            yield f"      {numbers[str(one.user)]}: {one.usage}"


class _Account(NamedTuple):
    """An account of the tree, and the users in it."""

    own: SlurmAssociation
    users: list[SlurmAssociation]


def _tree(listed: Sequence[SlurmAssociation]) -> tuple[dict[str, _Account], list[str]]:
    """Return the accounts by name, and sentences on associations that are left out."""
    tree: dict[str, _Account] = {}
    by_partition: dict[str, None] = {}
    # Users right below the root are in an account that counts as the root, and has its limits.
    limits = next((one.limits for one in listed if one.account == ROOT and not one.user), {})
    root = _Account(SlurmAssociation(ROOT, None, None, None, limits=limits), [])
    for one in listed:
        if one.user is None and one.account != ROOT:
            below_none = one.parent == ROOT and not limits
            own = replace(one, parent=None) if below_none else one
            tree.setdefault(one.account, _Account(own, []))
    # Associations with any partition first: of several of a user, the first one counts.
    for one in sorted(listed, key=lambda one: one.partition is not None):
        if one.user is None:
            continue
        account = root if one.account == ROOT else tree.get(one.account)
        if account is None:
            # A table of some of the accounts only.
            account = tree[one.account] = _Account(SlurmAssociation(one.account, None, None, 1), [])
        if any(one.user == other.user for other in account.users):
            by_partition[f"{one.user} in {one.account}, {one.partition}"] = None
        else:
            account.users.append(one)
    left_out = []
    if by_partition:
        left_out.append(f"further associations by partition: {_listed(by_partition)}")
    return ({ROOT: root} if root.users or limits else {}) | tree, left_out


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
    name: str, account: _Account, limits: str, groups: Mapping[str, int], source: Path
) -> Iterator[str]:
    own = account.own
    yield commented(f"  {scalar(name)}:", [Place(str(source), own.line or None)])
    if own.parent is not None:
        yield f"    parent: {scalar(own.parent)}"
    yield f"    shares: {_shares(own)}"
    if name in groups:
        yield f"    groups: [{groups[name]}]"
    if limits:
        yield f"    {limits}"


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
        TypeAdapter(DeclaredAccounts).validate_python((value or {}).get("accounts", {}))
    except ValidationError as error:
        told = "; ".join(sentence(one) for one in error.errors())
        raise _fault(f"the accounts make no tree: {told}", source) from None


def _fault(message: str, path: Path, line: int | None = None) -> InputError:
    return InputError(Finding("bad-accounts", message, Place(str(path), line)))
