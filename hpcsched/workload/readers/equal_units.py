"""Division of a job's request into equal units: by its nodes, or by its processors."""

from collections.abc import Mapping
from functools import lru_cache
from math import gcd, isqrt
from typing import NamedTuple

import numpy as np

from hpcsched.system.space import slots_per_node
from hpcsched.system.system import System

_DIVISIBLE = "mem"
"""Resource type that any number of units can share, rounded up: bytes, of which there are many."""


class EqualUnits(NamedTuple):
    """Equal units of a job.

    Attributes
    ----------
    units
        Number of units.
    amounts
        Declared amounts of each unit.
    uneven
        Whether the nodes of the log cannot have had these amounts.
    per_node
        Whether each unit stands for one node of the log.
    """

    units: int
    amounts: dict[str, int]
    uneven: bool = False
    per_node: bool = False


def on_nodes(amounts: Mapping[str, int], nodes: int) -> EqualUnits:
    """Return one unit for each node, with amounts rounded up where they cannot be divided equally.

    Memory is rounded up to whole bytes, which does not count as uneven.

    Parameters
    ----------
    amounts
        Declared amounts of the whole job.
    nodes
        Number of nodes, at least 1.
    """
    shared = {name: -(-amount // nodes) for name, amount in amounts.items()}
    uneven = any(amount % nodes for name, amount in amounts.items() if name != _DIVISIBLE)
    return EqualUnits(nodes, shared, uneven, per_node=True)


def smallest(amounts: Mapping[str, int]) -> EqualUnits:
    """Return the largest possible number of equal units: 8 cores and 2 GPUs make 2 units."""
    return _shared(amounts, _common(amounts))


def largest_on_a_node(amounts: Mapping[str, int], system: System) -> EqualUnits:
    """Return the smallest number of equal units that fit on an idle node of the largest group each.

    The largest group is that with the most nodes, the first among equals. If it can hold no unit of
    any size, the units are the smallest.

    Parameters
    ----------
    amounts
        Declared amounts of the whole job.
    system
        The system.
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
    # Divisors come in pairs d and number/d, one of them at most the square root.
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def processors_per_node(system: System, request: tuple[int, ...]) -> int:
    """Return the number of processors with this request that fit on a node of the largest group.

    The largest group is that with the most nodes, the first among equals.
    """
    largest = max(range(len(system.groups)), key=lambda k: system.groups[k].count)
    first = sum(group.count for group in system.groups[:largest])
    return int(slots_per_node(system, request)[first])


@lru_cache(maxsize=4096)
def whole_nodes(processors: int, per_node: int) -> tuple[int, int]:
    """Pack processors into units that fill whole nodes where possible.

    A unit has a whole node's processors if the request is a multiple of them, and otherwise the
    largest number that divides the request and fits on a node.

    Parameters
    ----------
    processors
        Number of requested processors, at least 1.
    per_node
        Number of processors of a node, at least 1.

    Examples
    --------
    >>> [whole_nodes(n, 20) for n in (40, 30, 7, 23)]
    [(2, 20), (2, 15), (1, 7), (23, 1)]
    """
    if processors < 1 or per_node < 1:
        raise ValueError("expected at least one processor and one that fits on a node")
    # Largest divisor first; 1 divides every number, so that there always is one.
    size = next(d for d in range(min(processors, per_node), 0, -1) if processors % d == 0)
    return processors // size, size
