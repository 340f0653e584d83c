"""How a job that asks for so much in all, on so many nodes, becomes equal units."""

from collections.abc import Mapping
from math import gcd, isqrt
from typing import Literal, NamedTuple

import numpy as np

from hpcsched.system.system import System

UnitMapping = Literal["as_requested", "one_each", "whole_nodes"]
"""What the units are: the nodes; as small as can be; or as large as a node allows."""

_DIVISIBLE = "mem"
"""What can be shared among any number, rounded up: bytes, of which there are many."""


class EqualUnits(NamedTuple):
    """So many units, and what each asks for; `uneven` where that is not what nodes could have.

    `per_node` says that each stands for one of the nodes that the log tells of.
    """

    units: int
    amounts: dict[str, int]
    uneven: bool = False
    per_node: bool = False


def on_nodes(amounts: Mapping[str, int], nodes: int) -> EqualUnits:
    """Return a unit a node, with amounts rounded up where they cannot be shared equally.

    Memory is rounded up to whole bytes, which does not make it uneven.
    """
    shared = {name: -(-amount // nodes) for name, amount in amounts.items()}
    uneven = any(amount % nodes for name, amount in amounts.items() if name != _DIVISIBLE)
    return EqualUnits(nodes, shared, uneven, per_node=True)


def smallest(amounts: Mapping[str, int]) -> EqualUnits:
    """Return as many equal units as all can be shared among: 8 cores and 2 GPUs make 2 units.

    Raises ValueError where nothing but memory is asked for.
    """
    return _shared(amounts, _common(amounts))


def largest_on_a_node(amounts: Mapping[str, int], system: System) -> EqualUnits:
    """Return the fewest equal units of which an idle node of the largest group holds one.

    The largest group is that with the most nodes, the first among equals. Where it could hold none
    of any size, the units are the smallest. Raises ValueError as `smallest` does.
    """
    common = _common(amounts)
    group = max(range(len(system.groups)), key=lambda k: system.groups[k].count)
    node = sum(system.groups[k].count for k in range(group))
    capacity = system.capacity[node]
    for units in _divisors(common):
        shared = _shared(amounts, units)
        if bool(np.all(np.asarray(system.request(shared.amounts)) <= capacity)):
            return shared
    return _shared(amounts, common)


def _common(amounts: Mapping[str, int]) -> int:
    common = gcd(*(amount for name, amount in amounts.items() if name != _DIVISIBLE))
    if common < 1:
        raise ValueError("expected amounts of more than memory")
    return common


def _shared(amounts: Mapping[str, int], units: int) -> EqualUnits:
    return EqualUnits(units, {name: -(-amount // units) for name, amount in amounts.items()})


def _divisors(number: int) -> list[int]:
    """Return all divisors, in ascending order."""
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})
