"""Releases: the amounts that come free on each node if running jobs end as predicted."""

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hpcsched.system.allocation import Allocation, NodeAllocation
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray, System

End = tuple[int, Allocation, Request]
"""Predicted end of an allocation in seconds, the allocation, and the request it serves."""


class Releases(NamedTuple):
    """`K` releases: at `times[k]`, ascending, `amounts[k]`, `[R]`, come free on `nodes[k]`."""

    times: IntArray
    nodes: IntArray
    amounts: IntArray


def releases_of(system: System, ends: Iterable[End]) -> Releases:
    """Return the releases of allocations, node by node, by time.

    Parameters
    ----------
    system
        The system, which has the capacity of the nodes.
    ends
        The allocations with their predicted ends.
    """
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
    # fromiter: a system has up to thousands of running jobs, and this runs in every planned round.
    times = np.fromiter((end[0] for end in ends), dtype=np.int64, count=count)
    return Releases(times.repeat(per_end), nodes, amounts)


_NONE = np.empty(0, dtype=np.int64)


def _arrays(allocation: Allocation) -> tuple[IntArray, IntArray]:
    """Return the nodes of an allocation and the units on them."""
    if not isinstance(allocation, NodeAllocation):
        allocation = NodeAllocation(allocation.nodes, allocation.units)
    return allocation.node_array, allocation.unit_array
