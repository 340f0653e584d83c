"""PCP'20 and PCP'21: positions of units in one array of all resources of a type.

Model (Galleguillos et al., CP 2021, section 3; PCP'20 preprint, section 3; PCP₅ in the thesis,
section 6.2): the resources of type r of all nodes are an array, in the order of the nodes, of
length Tcapᵣ = Σₙ capₙᵣ. Unit j of job i takes positions yᵢᵣⱼ … yᵢᵣⱼ + reqᵢᵣ / rnᵢ − 1 of it as long
as the job runs:

1. diffn([s(τᵢ)], [d(τᵢ)], [yᵢᵣⱼ], [reqᵢᵣ / rnᵢ]) for each r; running jobs are boxes at the lowest
   positions of their nodes;
2. implied: cumulative([s(τᵢ)], [d(τᵢ)], [reqᵢᵣ / rnᵢ], Tcapᵣ), and the same with axes exchanged,
   cumulative([yᵢᵣⱼ], [reqᵢᵣ / rnᵢ], [d(τᵢ)], eoh) (in the papers' text with s(τᵢ) for d(τᵢ));
   two jobs that together ask for more than Tcapᵣ are disjunct in time, as in `pcp4`;
3. element(mapᵣ, yᵢᵣⱼ) is the node of position yᵢᵣⱼ: equal for all resource types that a job asks
   for, and for the first and the last position of a unit.

It is a restriction. A unit needs positions that are side by side and stay the same as long as it
runs, while a node only needs to have enough: what is free on it may be in pieces. A plan that is
good by count can have no positions.

There are |Q̄| + Σᵢ rnᵢ · |R| decision variables, as the papers count them; types of which a job
asks nothing have none.

Units of a job can change places in PCP'20, where alldifferent([yᵢᵣⱼ]) over the units j of each job
i with rnᵢ > 1 and each r says no more than the boxes. In PCP'21 they are in order: yᵢᵣⱼ < yᵢᵣⱼ₊₁.
That loses nothing for all types at once: the units of a job are alike and run at the same time, so
that those on one node can exchange their positions of any one type, and nodes are in the same order
in all.

The search takes the job of the highest priority, gives it its earliest start, and then its
positions, in PCP'20 the largest value first, in PCP'21 the least, units in turn; ours takes them by
resource type, that of which least is available now first. PCP'21s, for jobs that all ask for the
same resource types, has the model of PCP'21; the paper breaks the symmetry between types in the
search alone: where a job's positions have failed, or are to be improved, it goes back to the job's
start rather than to other positions.

Ours departs in this.

- (3) without `element`, which is slow on long arrays: each unit has a node gᵢⱼ. Nodes with equally
  much of each type and room for the same jobs are neighbours in the array. On a stretch of
  neighbours from node f with strideᵣ positions each, from position bᵣ on, a unit is within its
  node: 0 ≤ yᵢᵣⱼ − bᵣ − strideᵣ · (gᵢⱼ − f) ≤ strideᵣ − reqᵢᵣ / rnᵢ. Where a job can use several
  stretches, cᵢⱼₖ says which one. These are the papers' positions with the nodes in another order,
  which changes no plan. gᵢⱼ and cᵢⱼₖ follow from y and are not counted.
- Running jobs are merged by node and end, the latest end lowest, so that what is free of a node is
  in one piece at any time. Positions within a node are alike, so that nobody has to move for it.
- As long as running jobs leave a node less than any unit asks for, all of its positions are taken,
  and those of neighbours together are one box. Numbers of variables, constraints and boxes are thus
  independent of the number of nodes; nodes that are used in part have boxes of their own.
- While a node is closed by an announced outage, a box takes all of its positions.
- The papers know no job whose units each need a node of their own. Here its gᵢⱼ are ascending,
  which loses nothing, as its units are alike.
- The axes are not exchanged in (2) where the horizon is at least the sum of all run times and the
  last running job, as it says nothing there: no two units of a job share a position.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, islice, pairwise
from typing import Any, NamedTuple

import cpmpy as cp
import numpy as np
from cpmpy.expressions.core import Expression
from cpmpy.expressions.globalconstraints import GlobalConstraint
from cpmpy.expressions.utils import argval, argvals

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.cp.formulations.scheduling import cumulatives, disjunctions
from hpcsched.dispatching.planning.model_data import BoolArray, ModelData, Plan
from hpcsched.system.system import IntArray


class NoOverlap2D(GlobalConstraint):
    """Rectangles `[x, x + width) × [y, y + height)` do not overlap in pairs.

    Origins are variables or numbers, sizes positive numbers; all four lists are equally long.
    Source: `diffn` of Aggoun and Beldiceanu, *Extending CHIP in order to solve complex scheduling
    and placement problems*, 1993.
    """

    def __init__(
        self, x: Sequence[Any], width: Sequence[int], y: Sequence[Any], height: Sequence[int]
    ) -> None:
        super().__init__("no_overlap_2d", (list(x), list(width), list(y), list(height)))

    def decompose(self, how: str = "auto") -> tuple[list[Expression], list[Expression]]:
        """Return the decomposition: every two rectangles are disjoint in x or in y.

        `how` is there for CPMpy; there is one way.
        """
        x, width, y, height = self.args
        # Of J units there are J · (J − 1) / 2 pairs: solvers that have the constraint itself are
        # given that.
        apart = [
            cp.any(
                [
                    x[a] + width[a] <= x[b],
                    x[b] + width[b] <= x[a],
                    y[a] + height[a] <= y[b],
                    y[b] + height[b] <= y[a],
                ]
            )
            for a, b in combinations(range(len(x)), 2)
        ]
        return apart, []

    def value(self) -> bool | None:
        """Say whether it holds for the variables' values; None while one has none."""
        x, _, y, _ = (argvals(argument) for argument in self.args)
        if any(origin is None for origin in (*x, *y)):
            return None
        return all(argval(apart) for apart in self.decompose()[0])


class Numbering(NamedTuple):
    """An order of the nodes; the positions of one begin where those of the one before end.

    Attributes
    ----------
    order
        The nodes in order, `[N]`: alike nodes, and of these nodes that are full until the same
        time, are neighbours.
    first
        First position of the k-th node, and the number of all positions, `[N + 1, R]`.
    full_until
        Time up to which no unit of any job has room on the k-th node, beside running jobs, `[N]`.
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
    allocated: dict[int, Counter[int]] = defaultdict(Counter)
    # There is nothing to keep apart beyond the horizon.
    until, on = np.minimum(data.allocated_until, data.horizon), place[data.allocated_on]
    amounts = data.allocated[:, r]
    for end, k, amount in zip(until.tolist(), on.tolist(), amounts.tolist(), strict=True):
        if amount and usable[k]:
            allocated[k][end] += amount
    taken: dict[int, list[Box]] = {}
    full_until = np.minimum(numbering.full_until, data.horizon).tolist()
    for k in usable.nonzero()[0].tolist():
        low, full, stride = 0, full_until[k], numbering.stride(k, r)
        boxes = [Box(0, full, 0, stride)] if full and stride else []
        # The latest end lowest, so that what is free of the node is in one piece at any time.
        for end, amount in sorted(allocated[k].items(), reverse=True):
            if end > full:
                boxes.append(Box(full, end, low, low + amount))
            low += amount
        if boxes:
            taken[k] = boxes
    for n, begin, end in data.closed:
        k = int(place[n])
        if usable[k] and (whole := int(data.capacity[n, r])):
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


def pcp20() -> Formulation:
    """Return PCP'20: starts and positions of units."""
    return Formulation(
        "PCP'20",
        "restriction",
        "plan",
        variable_count,
        largest_area,
        UnitPositions,
        (*POSITION_CONSTRAINTS, all_different),
        last_node_first=True,
    )


def pcp21(*, symmetric: bool = False) -> Formulation:
    """Return PCP'21: starts and positions of units, in order; with `symmetric`, PCP'21s."""
    return Formulation(
        "PCP'21s" if symmetric else "PCP'21",
        "restriction",
        "plan",
        variable_count,
        largest_area,
        UnitPositions,
        (*POSITION_CONSTRAINTS, ascending),
        back_to_start=symmetric,
    )


def variable_count(data: ModelData) -> int:
    """Return |Q̄| + Σᵢ rnᵢ · |R|."""
    return data.job_count + int(data.units.sum()) * data.type_count


def largest_area(data: ModelData) -> int:
    """Return the largest area of an array of positions over the horizon."""
    return int(data.totals.max(initial=1)) * data.horizon


def _variables(name: str, count: int, low: int, high: int) -> list[Variable]:
    return [cp.intvar(int(low), int(high), name=f"{name},{j}") for j in range(count)]


class UnitPositions:
    """Positions of units.

    Attributes
    ----------
    types
        Numbers of the resource types, the scarcest now first.
    numbering
        Numbers of the nodes, and their positions.
    nodes
        `nodes[i][j]`: number of the node of unit j of job i; a number if there is no choice.
    origins
        `origins[i][r][j]`: first position of the unit, for the types that job i asks for.
    within
        `within[i][j][k]`: whether the unit is in the k-th segment; empty if there is only one.
    """

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.types: list[int] = data.available.sum(axis=0).argsort(kind="stable").tolist()
        self.numbering = numbered(data)
        self.nodes: list[list[Variable]] = []
        self.origins: list[dict[int, list[Variable]]] = []
        self.segments: list[list[Segment]] = []
        self.within: list[list[list[Variable]]] = []
        begins = self.numbering.first
        for i, units in enumerate(data.units.tolist()):
            asked = {r: int(data.requests[i, r]) for r in self.types if data.requests[i, r]}
            segments = _segments(data, i, self.numbering, list(asked))
            first, last = segments[0].first, segments[-1].last
            several = range(len(segments) if len(segments) > 1 else 0)
            self.segments.append(segments)
            # A single usable node needs no variables.
            nodes = _variables(f"g{i}", units, first, last) if first < last else [first] * units
            self.nodes.append(nodes)
            origins = {
                r: _variables(f"y{i},{r}", units, begins[first, r], begins[last + 1, r] - amount)
                for r, amount in asked.items()
            }
            self.origins.append(origins)
            self.within.append(
                [[cp.boolvar(name=f"c{i},{j},{k}") for k in several] for j in range(units)]
            )

    def placed(self) -> IntArray:
        """Return where the present solution has units, `[J, N]`."""
        counts = np.zeros((self._data.job_count, self._data.node_count), dtype=np.int64)
        order = self.numbering.order
        for i, of_job in enumerate(self.nodes):
            for node in of_job:
                counts[i, order[node if isinstance(node, int) else node.value()]] += 1
        return counts

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return nodes and positions for a plan.

        On each node jobs take the lowest positions that are free as long as they run, in an order
        that finds room for most units. A unit for which there is none gets a node alone.
        """
        data, numbering = self._data, self.numbering
        values: dict[Variable, int] = {}
        placed = plan.placed[:, numbering.order]
        on_node: list[list[int]] = [[] for _ in range(data.node_count)]
        for i, (of_job, row) in enumerate(zip(self.nodes, placed, strict=True)):
            where = np.repeat(np.arange(data.node_count), row).tolist()
            for node, within, k in zip(of_job, self.within[i], where, strict=False):
                if not isinstance(node, int):
                    values[node] = k
                for (first, last), chosen in zip(self.segments[i], within, strict=False):
                    values[chosen] = int(first <= k <= last)
            for k in row.nonzero()[0].tolist():
                on_node[k].append(i)
        starts, ends = plan.starts.tolist(), (plan.starts + data.run_times).tolist()
        for r in self.types:
            taken = taken_positions(data, r, numbering)
            asked = data.requests[:, r].tolist()
            # Units of a job are handed out node by node, in the order in which they got their
            # nodes above.
            left = [iter(by_type.get(r, ())) for by_type in self.origins]
            for k, jobs in enumerate(on_node):
                shares = [
                    Share(i, starts[i], ends[i], asked[i], placed[i, k]) for i in jobs if asked[i]
                ]
                origins = pack(shares, taken.get(k, []), numbering.stride(k, r))
                for share in shares:
                    here = islice(left[share.job], share.units)
                    lows = (int(numbering.first[k, r]) + low for low in origins[share.job])
                    values |= zip(list(here), lows, strict=False)
        return values


def on_nodes(parts: ModelParts) -> list[Any]:
    """Return that each unit keeps to the positions of one usable node."""
    data, placing = parts.data, parts.placing
    constraints: list[Any] = []
    for i, (nodes, segments) in enumerate(zip(placing.nodes, placing.segments, strict=True)):
        if segments[0].first == segments[-1].last:
            continue
        if data.apart[i]:
            constraints += [a < b for a, b in pairwise(nodes)]
        constraints += [cp.sum(chosen) == 1 for chosen in placing.within[i] if chosen]
        for j, node in enumerate(nodes):
            for k, segment in enumerate(segments):
                limits = [] if len(segments) == 1 else [node >= segment.first, node <= segment.last]
                for r, origins in placing.origins[i].items():
                    stride = placing.numbering.stride(segment.first, r)
                    # Place of the unit on its node, which lies within the node's positions.
                    before = int(placing.numbering.first[segment.first, r])
                    place = origins[j] - stride * node - (before - stride * segment.first)
                    limits += [place >= 0, place <= stride - int(data.requests[i, r])]
                if len(segments) > 1:
                    limits = [placing.within[i][j][k].implies(limit) for limit in limits]
                constraints += limits
    return constraints


def _segments(data: ModelData, i: int, numbering: Numbering, types: Sequence[int]) -> list[Segment]:
    """Return the nodes that a job can use: neighbours with equally much of these types are one."""
    usable = (data.room[i] > 0)[numbering.order]
    amounts = np.diff(numbering.first, axis=0)[:, list(types)]
    breaks = np.r_[True, (np.diff(amounts, axis=0) != 0).any(axis=1) | ~usable[:-1]]
    begins = (usable & breaks).nonzero()[0]
    ends = (usable & np.r_[breaks[1:] | ~usable[1:], True]).nonzero()[0]
    return [Segment(*ends_of) for ends_of in zip(begins.tolist(), ends.tolist(), strict=True)]


def no_overlap(parts: ModelParts) -> list[Any]:
    """Return the no-overlap of units in time and positions, and the implied cumulatives."""
    data, placing, starts = parts.data, parts.placing, parts.starts
    constraints: list[Any] = []
    last_end = int(data.allocated_until.max(initial=0))
    crossed = int(data.run_times.sum()) + last_end > data.horizon
    for r in placing.types:
        units = [
            (starts[i], int(data.run_times[i]), origin, int(data.requests[i, r]))
            for i, by_type in enumerate(placing.origins)
            for origin in by_type.get(r, ())
        ]
        if not units:
            continue
        numbering = placing.numbering
        units += [
            (box.begin, box.end - box.begin, box.low, box.high - box.low)
            for box in merged_boxes(taken_positions(data, r, numbering), r, numbering)
        ]
        # One rectangle overlaps nothing.
        if len(units) == 1:
            continue
        begins, durations, origins, amounts = (list(part) for part in zip(*units, strict=True))
        constraints.append(NoOverlap2D(begins, durations, origins, amounts))
        # With a longer horizon this follows from the rest (see the module's last point).
        if crossed:
            constraints.append(
                cp.Cumulative(origins, amounts, demand=durations, capacity=data.horizon)
            )
    return constraints


POSITION_CONSTRAINTS = (on_nodes, cumulatives, disjunctions, no_overlap)
"""What PCP'20 and PCP'21 have in common."""


def all_different(parts: ModelParts) -> list[Any]:
    """Return that units of a job do not begin at one position, which the boxes imply."""
    return [
        cp.AllDifferent(origins)
        for by_type in parts.placing.origins
        for origins in by_type.values()
        if len(origins) > 1
    ]


def ascending(parts: ModelParts) -> list[Any]:
    """Return yᵢᵣⱼ < yᵢᵣⱼ₊₁: each unit begins where the last one ends, or later."""
    return [
        origin + int(parts.data.requests[i, r]) <= later
        for i, by_type in enumerate(parts.placing.origins)
        for r, origins in by_type.items()
        for origin, later in pairwise(origins)
    ]
