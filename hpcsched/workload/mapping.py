"""Meaning of a requested processor: conversion of processors to units of a job."""

from functools import lru_cache

from hpcsched.system.space import slots_per_node
from hpcsched.system.system import System


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

    Returns
    -------
    tuple
        Number of units, and processors of each.

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
