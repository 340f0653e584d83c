"""Generic resources (GRES): `gpu:a100:4(S:0-1)`, `gpu:2080ti:4`, `gres:gpu:2`, `gres/gpu:a100=2`.

Source: the manual pages `slurm.conf`, `gres.conf` and `sbatch` of SchedMD.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hpcsched_slurm.syntax.values import NOT_GIVEN, is_scaled_count, parse_scaled_count

EXAMPLE = "gpu:a100:4"

_PREFIX = re.compile(r"^gres[:/]", re.IGNORECASE)
_WORD = re.compile(r"[^\s:=,()]+")
_PARENTHESES = re.compile(r"\([^()]*\)")
_NOT_CONSUMED = "no_consume"


class Gres(NamedTuple):
    """Generic resource of a node or request.

    Attributes
    ----------
    name
        Its name, such as `gpu`.
    type
        Its type, such as `a100`; empty: any.
    amount
        The number of devices.
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
    node
        The resources of the node.
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
