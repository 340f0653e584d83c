"""Positions of units on nodes: those that no job can have, and lowest free ones for a given plan.

The positions are those of `unit_positions`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.cp.formulation import Variable
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan

BoolArray = npt.NDArray[np.bool_]


class Positions(Protocol):
    """The part of `UnitPositions` of which a hint is made."""

    types: Sequence[int]
    nodes: list[list[Variable]]
    origins: list[dict[int, list[Variable]]]
    strides: list[int]


class Box(NamedTuple):
    """Positions `low … high − 1` of a node are taken from `begin` to `end`."""

    begin: int
    end: int
    low: int
    high: int


def hint_positions(data: ModelData, positions: Positions, plan: Plan) -> dict[Variable, int]:
    """Return nodes and positions for a plan.

    On each node jobs take the lowest positions that are free as long as they run, in an order that
    finds room for most units. A unit for which there is none gets a node alone.
    """
    values: dict[Variable, int] = {}
    on_node: list[list[int]] = [[] for _ in range(data.node_count)]
    for i, (of_job, row) in enumerate(zip(positions.nodes, plan.placed, strict=True)):
        where = np.repeat(np.arange(data.node_count), row).tolist()
        for node, value in zip(of_job, where, strict=False):
            if not isinstance(node, int):
                values[node] = value
        for n in row.nonzero()[0].tolist():
            on_node[n].append(i)
    starts, run_times = plan.starts.tolist(), data.run_times.tolist()
    for r in positions.types:
        stride = positions.strides[r]
        taken = taken_positions(data, r, stride)
        # Units of a job are handed out node by node, in the order in which they got their nodes
        # above.
        left = [iter(by_type.get(r, ())) for by_type in positions.origins]
        for n, jobs in enumerate(on_node):
            shares = [
                _Share(
                    i,
                    starts[i],
                    starts[i] + run_times[i],
                    int(data.requests[i, r]),
                    int(plan.placed[i, n]),
                )
                for i in jobs
                if data.requests[i, r]
            ]
            origins = _pack(shares, taken.get(n, []), stride)
            for share in shares:
                here = islice(left[share.job], share.units)
                lows = (stride * n + low for low in origins[share.job])
                values |= zip(list(here), lows, strict=False)
    return values


class _Share(NamedTuple):
    """A job's share of a node: `units` units of `size` each."""

    job: int
    begin: int
    end: int
    size: int
    units: int


_ORDERS: tuple[Callable[[_Share], tuple[int, ...]], ...] = (
    lambda share: (share.begin, -share.end),
    lambda share: (share.begin - share.end, -share.size),
    lambda share: (-share.size, share.begin - share.end),
    lambda share: ((share.begin - share.end) * share.size * share.units, share.begin),
    lambda share: (-share.end, share.begin),
)
"""Orders in which to look for positions, until all have some; no one order is always good."""


def _pack(shares: Sequence[_Share], taken: Sequence[Box], limit: int) -> dict[int, list[int]]:
    """Return origins of units by job; fewer than there are units if no order has room for all."""
    wanted = sum(share.units for share in shares)
    best: dict[int, list[int]] = {}
    most = -1
    for order in _ORDERS:
        boxes, found = list(taken), {}
        for share in sorted(shares, key=order):
            beside = (box for box in boxes if box.begin < share.end and share.begin < box.end)
            lows = _lowest(beside, limit, share.size, share.units)
            boxes += [Box(share.begin, share.end, low, low + share.size) for low in lows]
            found[share.job] = lows
        count = sum(map(len, found.values()))
        # Only strictly more: of equally good orders the first in `_ORDERS` decides.
        if count > most:
            best, most = found, count
        if count == wanted:
            break
    return best


def _lowest(taken: Iterable[Box], limit: int, size: int, count: int) -> list[int]:
    """Return the lowest origins below a limit, up to `count`, that leave boxes alone."""
    free: list[int] = []
    at = 0
    for low, high in [*sorted((box.low, box.high) for box in taken), (limit, limit)]:
        while at + size <= low and len(free) < count:
            free.append(at)
            at += size
        at = max(at, high)
    return free


def usable_nodes(data: ModelData, r: int) -> BoolArray:
    """Say on which nodes there can be a unit that asks for a resource type, `[N]`."""
    return np.asarray((data.room[data.requests[:, r] > 0] > 0).any(axis=0))


def taken_positions(data: ModelData, r: int, stride: int) -> dict[int, list[Box]]:
    """Return positions by node that no job can have: allocated, missing, or closed for a while."""
    usable = usable_nodes(data, r)
    allocated: dict[int, dict[int, int]] = {}
    for end, n, amount in zip(
        data.allocated_until.tolist(),
        data.allocated_on.tolist(),
        data.allocated[:, r].tolist(),
        strict=True,
    ):
        if amount and usable[n]:
            of_node = allocated.setdefault(n, {})
            until = min(end, data.horizon)  # there is nothing to keep apart beyond
            of_node[until] = of_node.get(until, 0) + amount
    taken: dict[int, list[Box]] = {}
    for n in usable.nonzero()[0].tolist():
        low, boxes = 0, []
        # The latest end lowest, so that what is free of the node is in one piece at any time.
        for end, amount in sorted(allocated.get(n, {}).items(), reverse=True):
            boxes.append(Box(0, end, low, low + amount))
            low += amount
        capacity = int(data.capacity[n, r])
        if capacity < stride:
            boxes.append(Box(0, data.horizon, capacity, stride))
        if boxes:
            taken[n] = boxes
    for n, begin, end in data.closed:
        if usable[n] and data.capacity[n, r]:
            taken.setdefault(n, []).append(Box(begin, end, 0, int(data.capacity[n, r])))
    return taken
