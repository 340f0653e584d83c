"""Columns of nodes and units from the allocations of many jobs."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array
from hpcsched.system.allocation import Allocation, Interval, SlotAllocation, SlotMap
from hpcsched.system.system import IntArray

Placements = tuple[IntArray, IntArray, IntArray]
"""Number of nodes of each job, `[J]`; nodes of all jobs, one after another; units on them."""


def placement_columns(allocations: Sequence[Allocation | None]) -> tuple[pa.Array, pa.Array]:
    """Return the nodes of each allocation, and the units on them, as list columns."""
    present = [allocation for allocation in allocations if allocation is not None]
    of_slots = [a for a in present if isinstance(a, SlotAllocation)]
    if of_slots and len(of_slots) == len(present):
        counts, nodes, units = _from_slots([a.intervals for a in of_slots], of_slots[0].slot_map)
    else:
        counts, nodes, units = _from_nodes(present)
    absent = np.array([allocation is None for allocation in allocations], dtype=np.bool_)
    lengths = np.zeros(len(allocations), dtype=np.int64)
    lengths[~absent] = counts
    # Arrow's lists have 32-bit offsets: a row group never holds as many places.
    offsets = arrow_array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    mask = arrow_array(absent)
    return (
        pa.ListArray.from_arrays(offsets, arrow_array(nodes.astype(np.int32)), mask=mask),
        pa.ListArray.from_arrays(offsets, arrow_array(units.astype(np.int32)), mask=mask),
    )


def _from_nodes(allocations: Sequence[Allocation]) -> Placements:
    nodes = [allocation.nodes for allocation in allocations]
    units = [allocation.units for allocation in allocations]
    return (
        np.array([len(part) for part in nodes], dtype=np.int64),
        np.fromiter(chain.from_iterable(nodes), dtype=np.int64),
        np.fromiter(chain.from_iterable(units), dtype=np.int64),
    )


def _from_slots(allocations: Sequence[tuple[Interval, ...]], slot_map: SlotMap) -> Placements:
    """Return the nodes of all jobs' slots together, as `SlotMap.spread` does for one job."""
    first = slot_map.first
    bounds = np.fromiter(chain.from_iterable(chain.from_iterable(allocations)), dtype=np.int64)
    low, high = bounds[0::2], bounds[1::2]
    job = np.repeat(np.arange(len(allocations)), [len(intervals) for intervals in allocations])

    # One row for each interval and node that it reaches.
    first_node = np.searchsorted(first, low, side="right") - 1
    last_node = np.searchsorted(first, high - 1, side="right") - 1
    reached = last_node - first_node + 1
    row = np.repeat(np.arange(len(low)), reached)
    node = first_node[row] + np.arange(len(row)) - (np.cumsum(reached) - reached)[row]
    units = np.minimum(high[row], first[node + 1]) - np.maximum(low[row], first[node])
    owner = job[row]

    # Nodes without slots may lie within an interval.
    used = units > 0
    node, units, owner = node[used], units[used], owner[used]
    # Two intervals of a job may meet on one node.
    new = np.ones(len(node), dtype=np.bool_)
    new[1:] = (np.diff(node) != 0) | (np.diff(owner) != 0)
    starts = np.flatnonzero(new)
    if len(starts):
        units = np.add.reduceat(units, starts)
    return np.bincount(owner[starts], minlength=len(allocations)), node[starts], units
