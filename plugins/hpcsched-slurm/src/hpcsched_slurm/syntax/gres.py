"""Generic resources (GRES): `gpu:a100:4(S:0-1)`, `gpu:2080ti:4`, `gres:gpu:2`, `gres/gpu:a100=2`.

Source: the manual pages `slurm.conf`, `gres.conf` and `sbatch` of SchedMD.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from hpcsched_slurm.syntax.values import NOT_GIVEN, is_scaled_count, parse_scaled_count, parse_size

EXAMPLE = "gpu:a100:4"

_PREFIX = re.compile(r"^gres[:/]", re.IGNORECASE)
_WORD = re.compile(r"[^\s:=,()]+")
_PARENTHESES = re.compile(r"\([^()]*\)")
_NOT_CONSUMED = "no_consume"


class Gres(NamedTuple):
    """Generic resource of a node or request.

    Attributes
    ----------
    type
        Its type, such as `a100`; empty: any.
    consumed
        False: any number of jobs may use all of them at once.
    """

    name: str
    type: str
    amount: int
    consumed: bool = True


class GresList(NamedTuple):
    """Generic resources in a text, and the parts of the text that are not understood."""

    resources: tuple[Gres, ...]
    not_understood: tuple[str, ...]


def read_gres(text: str) -> GresList:
    """Return the resources of a list, and the parts that are not understood.

    Notes
    -----
    The last of several fields is a count if it is a number, with a suffix (`2K`) or without; all
    else is a type, which may begin with a digit: `gpu:2080ti:4`, `gpu:1g.5gb:7`, but `gpu:4`.
    Parentheses list the devices (`(S:0-1)`, `(IDX:0,3)`) and are not read. `N/A`, `none`, `(null)`
    and empty parts stand for nothing.
    """
    found: list[Gres] = []
    unknown: list[str] = []
    for item in _items(text):
        try:
            found.append(_parse_item(item))
        except ValueError:
            unknown.append(item)
    return GresList(tuple(found), tuple(unknown))


def parse_gres(text: str) -> tuple[Gres, ...]:
    """Return the generic resources of a list.

    Raises
    ------
    ValueError
        If a part of the list is not understood.

    Examples
    --------
    >>> parse_gres("gpu:a100:4(S:0-1)")
    (Gres(name='gpu', type='a100', amount=4, consumed=True),)
    """
    resources, unknown = read_gres(text)
    if unknown:
        raise ValueError(f"expected generic resources such as {EXAMPLE}, found {unknown[0]!r}")
    return resources


def offers(node: Iterable[Gres], asked: Iterable[Gres]) -> bool:
    """Return whether a node offers all requested generic resources.

    Parameters
    ----------
    asked
        The requested resources; an empty type matches every type.
    """
    there = tuple(node)
    return all(
        sum(one.amount for one in there if one.name == want.name and want.type in {"", one.type})
        >= want.amount
        for want in asked
    )


def _items(text: str) -> Iterator[str]:
    """Yield the parts between commas outside parentheses, without those for nothing."""
    for part in re.split(r",(?![^(]*\))", text):
        item = part.strip()
        if item.lower() not in NOT_GIVEN:
            yield item


def _parse_item(item: str) -> Gres:
    fields = re.split("[:=]", _PARENTHESES.sub("", _PREFIX.sub("", item, count=1)).strip())
    words = [field for field in fields if field.lower() != _NOT_CONSUMED]
    consumed = len(words) == len(fields)
    amount = 1
    # A lone word is a name, also if it looks like a number.
    if len(words) > 1 and is_scaled_count(words[-1]):
        amount = parse_scaled_count(words.pop(), "devices")
    if not 1 <= len(words) <= 2 or not all(map(_WORD.fullmatch, words)):
        raise ValueError(item)
    return Gres(words[0], words[1] if len(words) == 2 else "", amount, consumed)


GRES = "gres/"
"""Prefix of the names of generic resources."""


def parse_tres(text: str) -> dict[str, int]:
    """Return the amounts of a TRES list by name; memory is in bytes.

    The names `cpu`, `mem`, `node` and `gres/NAME` are read, with or without a type
    (`gres/gpu:a100`); billing, energy, licences and disks are not resources of nodes.

    Raises
    ------
    ValueError
        If the text is no such list.

    Examples
    --------
    >>> parse_tres("cpu=8,mem=1G,gres/gpu=2,billing=8")
    {'cpu': 8, 'mem': 1073741824, 'gres/gpu': 2}
    """
    amounts: dict[str, int] = {}
    if text.strip().lower() in NOT_GIVEN:
        return amounts
    for item in text.split(","):
        name, equals, amount = item.strip().partition("=")
        if not (name and equals):
            raise ValueError(f"expected amounts such as cpu=8,mem=32G, found {item!r}")
        if name == "mem":
            amounts[name] = parse_size(amount)
        # Other entries, such as billing or energy, are no amounts of nodes and are skipped.
        elif name in {"cpu", "node"} or name.startswith(GRES):
            amounts[name] = parse_scaled_count(amount, name)
    return amounts


def counted_in_total(name: str, tres: Container[str]) -> bool:
    """Return whether an amount of one type (`gres/gpu:a100`) is in a listed total (`gres/gpu`)."""
    total, typed, _ = name.partition(":")
    return bool(typed) and total in tres


_TAKEN = frozenset({"core", "mem"})
"""Resource types of processors and memory, which no device may use."""
_OTHER_TYPE = "gres_"


def resource_type(name: str) -> str:
    """Return the resource type of a generic resource: its name, changed as little as possible.

    Letters become lower case, any other character `_`. A name that then does not start with a
    letter, or is a built-in type (`core`, `mem`), gets the prefix `gres_`.

    Examples
    --------
    >>> [resource_type(name) for name in ("gpu", "GPU", "nv-link", "2080ti", "mem")]
    ['gpu', 'gpu', 'nv_link', 'gres_2080ti', 'gres_mem']
    """
    found = re.sub(r"[^a-z0-9_]", "_", name.lower())
    plain = re.match("[a-z]", found) is not None and found not in _TAKEN
    return found if plain else f"{_OTHER_TYPE}{found}"


def renamed(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each changed name, and for each type shared by several names."""
    by_type: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_type.setdefault(resource_type(name), []).append(name)
    for type_, alike in by_type.items():
        listed = " and ".join(alike)
        if len(alike) > 1:
            yield f"the generic resources {listed} are counted together, as {type_}"
        elif alike != [type_]:
            yield f"the generic resource {listed} is called {type_}"


def totals(resources: Iterable[Gres]) -> Counter[str]:
    """Return the number of devices of each resource type, without those that are not consumed."""
    counts: Counter[str] = Counter()
    for one in resources:
        if one.consumed and one.amount:
            counts[resource_type(one.name)] += one.amount
    return counts


SHARED = ("shard", "mps")
"""Generic resources that are shares of GPUs."""

_MIG = re.compile(r"[1-7]g\.[0-9]+gb$")


def mig_profile(type_: str) -> str:
    """Return the MIG profile that a type of GPUs names; empty for other types.

    Examples
    --------
    >>> mig_profile("a100_1g.5gb"), mig_profile("a100")
    ('1g.5gb', '')
    """
    found = _MIG.search(type_.lower())
    return found[0] if found else ""


PREFIX = "license_"
"""Beginning of the names of shared resources that stand for licences."""

_ITEM = re.compile(r"([^\s:*,;|]+)(?:[:*]([0-9]{1,9}))?")


def license_resource(name: str) -> str:
    """Return the name of the shared resource that stands for a licence.

    Examples
    --------
    >>> license_resource("matlab"), license_resource("Comsol@flex")
    ('license_matlab', 'license_comsol_flex')
    """
    return PREFIX + resource_type(name).removeprefix("gres_")


def parse_licenses(text: str) -> dict[str, int]:
    """Return the number of each licence of a list; 1 if not stated.

    Raises
    ------
    ValueError
        If the text is no such list, or has alternatives (`a|b`).

    Examples
    --------
    >>> parse_licenses("matlab:2,comsol")
    {'matlab': 2, 'comsol': 1}
    """
    found: dict[str, int] = {}
    for item in filter(None, re.split("[,;]", text.strip())):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise ValueError(f"expected licences such as matlab:2,comsol, found {text!r}")
        found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found
