"""Positions of units on nodes: those that no job can have, and lowest free ones for a given plan.

The positions are those of `unit_positions`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planning.model_data import BoolArray, ModelData
from hpcsched.system.system import IntArray


class Numbering(NamedTuple):
    """An order of the nodes; the positions of one begin where those of the one before end.

    Attributes
    ----------
    order
        The nodes in order, `[N]`: alike nodes, and of these nodes that are full until the same
        step, are neighbours.
    first
        First position of the k-th node, and the number of all positions, `[N + 1, R]`.
    full_until
        Step up to which no unit of any job has room on the k-th node, beside running jobs, `[N]`.
    """

    order: IntArray
    first: IntArray
    full_until: IntArray

    def stride(self, k: int, r: int) -> int:
        """Return the number of positions of the k-th node."""
        return int(self.first[k + 1, r] - self.first[k, r])


def numbered(data: ModelData) -> Numbering:
    """Return the numbering of a model's nodes."""
    full = np.full(data.node_count, -1)
    left = data.not_allocated.copy()
    # A node is full no more at the first end after which a unit has room there.
    for end in (0, *np.unique(data.allocated_until).tolist()):
        ended = data.allocated_until == end
        np.add.at(left, data.allocated_on[ended], data.allocated[ended])
        nodes = np.unique(data.allocated_on[ended]) if end else np.arange(data.node_count)
        nodes = nodes[full[nodes] < 0]
        fits = (data.requests[:, :, np.newaxis] <= left[nodes].T).all(axis=1)
        full[nodes[(fits & (data.room[:, nodes] > 0)).any(axis=0)]] = end
    full = np.maximum(full, 0)  # no job ever has room on these
    keys = np.column_stack((data.capacity, data.room.T, full))
    order = np.lexsort(keys.T[::-1])
    first = np.zeros((data.node_count + 1, data.type_count), dtype=np.int64)
    first[1:] = data.capacity[order].cumsum(axis=0)
    return Numbering(order, first, full[order])


class Segment(NamedTuple):
    """Neighbouring nodes, from the `first`-th to the `last`-th, with equally many positions."""

    first: int
    last: int


class Box(NamedTuple):
    """Positions `low … high − 1` of a node are taken from `begin` to `end`."""

    begin: int
    end: int
    low: int
    high: int


class Share(NamedTuple):
    """A job's share of a node: `units` units of `size` each."""

    job: int
    begin: int
    end: int
    size: int
    units: int


_ORDERS: tuple[Callable[[Share], tuple[int, ...]], ...] = (
    lambda share: (share.begin, -share.end),
    lambda share: (share.begin - share.end, -share.size),
    lambda share: (-share.size, share.begin - share.end),
    lambda share: ((share.begin - share.end) * share.size * share.units, share.begin),
    lambda share: (-share.end, share.begin),
)
"""Orders in which to look for positions, until all have some; no one order is always good."""


def pack(shares: Sequence[Share], taken: Sequence[Box], limit: int) -> dict[int, list[int]]:
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


def taken_positions(data: ModelData, r: int, numbering: Numbering) -> dict[int, list[Box]]:
    """Return positions by node that no job can have: allocated, full or closed for a while.

    Nodes are those of the numbering, and positions are counted from the first of the node.
    """
    place = np.argsort(numbering.order)
    asking = data.room[data.requests[:, r] > 0][:, numbering.order]
    usable: BoolArray = np.asarray(asking.any(axis=0))
    allocated: dict[int, dict[int, int]] = {}
    for end, k, amount in zip(
        data.allocated_until.tolist(),
        place[data.allocated_on].tolist(),
        data.allocated[:, r].tolist(),
        strict=True,
    ):
        if amount and usable[k]:
            of_node = allocated.setdefault(k, {})
            until = min(end, data.horizon)  # there is nothing to keep apart beyond
            of_node[until] = of_node.get(until, 0) + amount
    taken: dict[int, list[Box]] = {}
    full_until = np.minimum(numbering.full_until, data.horizon).tolist()
    for k in usable.nonzero()[0].tolist():
        low, full, stride = 0, full_until[k], numbering.stride(k, r)
        boxes = [Box(0, full, 0, stride)] if full and stride else []
        # The latest end lowest, so that what is free of the node is in one piece at any time.
        for end, amount in sorted(allocated.get(k, {}).items(), reverse=True):
            if end > full:
                boxes.append(Box(full, end, low, low + amount))
            low += amount
        if boxes:
            taken[k] = boxes
    for n, begin, end in data.closed:
        k = int(place[n])
        if usable[k] and data.capacity[n, r]:
            whole = int(data.capacity[n, r])
            taken.setdefault(k, []).append(Box(begin, end, 0, whole))
    return taken


def merged_boxes(taken: dict[int, list[Box]], r: int, numbering: Numbering) -> list[Box]:
    """Return taken positions in the numbering of all nodes; those of whole neighbours are one."""
    merged: list[Box] = []
    whole: dict[tuple[int, int], int] = {}
    for k in sorted(taken):
        base = int(numbering.first[k, r])
        for box in taken[k]:
            low, high = base + box.low, base + box.high
            before = whole.get(box[:2])
            if box.high - box.low < numbering.stride(k, r):
                merged.append(Box(*box[:2], low, high))
            elif before is not None and merged[before].high == low:
                merged[before] = merged[before]._replace(high=high)
            else:
                whole[box[:2]] = len(merged)
                merged.append(Box(*box[:2], low, high))
    return merged
