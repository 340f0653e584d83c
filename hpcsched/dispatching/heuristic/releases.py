"""What comes free when and where, if jobs end as predicted."""

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.shapes import Shape, units_on
from hpcsched.system.allocation import Allocation, NodeAllocation
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray, System

End = tuple[int, Allocation, Request]
"""When an allocation's room comes free, and whose it is."""


class Releases(NamedTuple):
    """`K` releases: at `times[k]`, ascending, `amounts[k]`, `[R]`, come free on `nodes[k]`."""

    times: IntArray
    nodes: IntArray
    amounts: IntArray


def releases_of(system: System, ends: Iterable[End]) -> Releases:
    """Return the releases on each node of each allocation that ends."""
    ends = sorted(ends, key=itemgetter(0))
    count = len(ends)
    arrays = [_arrays(allocation) for _, allocation, _ in ends]
    per_end = np.fromiter((len(nodes) for nodes, _ in arrays), dtype=np.int64, count=count)
    nodes = np.concatenate([_NONE, *(nodes for nodes, _ in arrays)])
    units = np.concatenate([_NONE, *(units for _, units in arrays)])
    asked = np.array([request.unit_request for _, _, request in ends], dtype=np.int64)
    amounts = asked.reshape(count, len(system.resource_types)).repeat(per_end, axis=0)
    amounts *= units[:, np.newaxis]
    exclusive = np.fromiter((end[2].exclusive for end in ends), dtype=np.bool_, count=count)
    if exclusive.any():  # what it holds is whole nodes
        whole = exclusive.repeat(per_end)
        amounts[whole] = system.capacity[nodes[whole]]
    times = np.fromiter((end[0] for end in ends), dtype=np.int64, count=count)
    return Releases(times.repeat(per_end), nodes, amounts)


_NONE = np.empty(0, dtype=np.int64)


def _arrays(allocation: Allocation) -> tuple[IntArray, IntArray]:
    """Return the nodes of an allocation and the units on them; those that are listed are kept."""
    if not isinstance(allocation, NodeAllocation):
        allocation = NodeAllocation(allocation.nodes, allocation.units)
    return allocation.node_array, allocation.unit_array


def available_at(time: int, available: IntArray, releases: Releases) -> IntArray:
    """Return what is free at a time, `[R, N]`, given what is free now."""
    upto = int(releases.times.searchsorted(time, side="right"))
    then = available.copy()
    for row, amounts in zip(then, releases.amounts[:upto].T, strict=True):
        np.add.at(row, releases.nodes[:upto], amounts)
    return then


def units_gained(system: System, available: IntArray, releases: Releases, shape: Shape) -> IntArray:
    """Return how many more units fit after each release than before it, `[K]`.

    `available`, `[R, N]`, is what is free before all of them.
    """
    by_node = releases.nodes.argsort(kind="stable")
    nodes, amounts = releases.nodes[by_node], releases.amounts[by_node]
    if not len(nodes):
        return nodes
    first = np.concatenate(([True], nodes[1:] != nodes[:-1])).nonzero()[0]
    released = amounts.cumsum(axis=0)
    others = (released[first] - amounts[first]).repeat(np.diff(first, append=len(nodes)), axis=0)
    fits = units_on(system, shape, nodes, available.T[nodes] + released - others)
    before = np.roll(fits, 1)
    before[first] = units_on(system, shape, nodes[first], available.T[nodes[first]])
    gained = np.empty_like(fits)
    gained[by_node] = fits - before
    return gained
