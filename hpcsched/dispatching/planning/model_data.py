"""The data of a model as plain arrays, and plans: the start of each job, and its nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.planning.start_time_costs import StartCostFunction
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.system import IntArray

MOST = 4096
"""Number of outages of single nodes that are considered, or two of each node where that is more.

Plans may reach far, but what lies beyond that will be planned anew many times. Each outage is one
more stretch of time that compiled code looks through and solvers count.
"""


class OutageInterval(NamedTuple):
    """Nodes of a model that are closed from second `begin` up to, not including, `end`."""

    begin: int
    end: int
    nodes: IntArray


class OutageData(NamedTuple):
    """`K` outages of single nodes, apart from each other, in order of begin and node.

    Attributes
    ----------
    nodes
        Node of the model, `[K]`.
    begins, ends
        The node is closed from second `begins[k]` up to, not including, `ends[k]`; both `[K]`.
    """

    nodes: IntArray
    begins: IntArray
    ends: IntArray

    def first_begins(self, node_count: int) -> IntArray:
        """Return each node's first closed second, `[N]`; the largest integer if there is none."""
        first = np.full(node_count, np.iinfo(np.int64).max)
        np.minimum.at(first, self.nodes, self.begins)
        return first

    def until(self, horizon: int) -> "OutageData":
        """Return the outages before a horizon, cut off there."""
        some = self.begins < horizon
        ends = np.minimum(self.ends[some], horizon)
        return OutageData(self.nodes[some], self.begins[some], ends)


def outage_intervals_of(
    problem: DispatchingProblem, nodes: IntArray, *, everywhere: bool = False
) -> tuple[OutageInterval, ...]:
    """Return the announced outages of some nodes, by their begin.

    Parameters
    ----------
    nodes
        Numbers of the system's nodes, `[N]`; their positions are the node numbers of the model.
    everywhere
        Return outages of other nodes too, as intervals without nodes.

    Notes
    -----
    Of very many outages, those furthest off are left out (see `MOST`).
    """
    if not problem.outages:
        return ()
    place = np.full(problem.system.node_count, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    found: list[OutageInterval] = []
    count, most = 0, max(MOST, 2 * len(nodes))
    for outage in problem.outages:
        places = place[np.array(outage.nodes, dtype=np.int64)]
        places = places[places >= 0]
        if not (len(places) or everywhere):
            continue
        count += len(places)
        if count > most and found:
            break
        begin = max(outage.start - problem.now, 0)
        found.append(OutageInterval(begin, outage.end - problem.now, places))
    return tuple(found)


def horizon_after_outages(
    outage_intervals: Sequence[OutageInterval], horizon: int, serial: int
) -> int:
    """Return the horizon beyond which no job needs to end, though nodes are closed for a while.

    If an outage begins before the horizon, no job needs to end later than if all jobs began once it
    is over. `horizon` is the one without outages, in seconds; intervals are by their begin.
    """
    for interval in outage_intervals:
        if interval.begin < horizon:
            horizon = max(horizon, interval.end + serial)
    return horizon


def outage_data(outage_intervals: Sequence[OutageInterval], horizon: int) -> OutageData | None:
    """Return the outages that begin before a horizon, node by node; None if there are none.

    Outages of one node that meet or overlap become one.
    """
    near = [
        interval
        for interval in outage_intervals
        if interval.begin < horizon and len(interval.nodes)
    ]
    if not near:
        return None
    nodes, begins, ends = single_outages(near)
    order = np.lexsort((begins, nodes))
    nodes, begins, ends = nodes[order], begins[order], ends[order]
    # One line that joins nodes and times: what meets or overlaps on it does so on a node.
    length = int(ends.max()) + 1
    reached = np.maximum.accumulate(nodes * length + ends)
    apart = np.concatenate(([True], (nodes * length + begins)[1:] > reached[:-1]))
    first = apart.nonzero()[0]
    last = np.append(first[1:], len(nodes)) - 1
    nodes, begins, ends = nodes[first], begins[first], reached[last] % length
    order = np.lexsort((nodes, begins))
    return OutageData(nodes[order], begins[order], ends[order])


def single_outages(outage_intervals: Sequence[OutageInterval]) -> OutageData:
    """Return the outages node by node, in the order of the intervals."""
    none = np.empty(0, dtype=np.int64)
    counts = [len(interval.nodes) for interval in outage_intervals]
    begins = np.array([interval.begin for interval in outage_intervals], dtype=np.int64)
    ends = np.array([interval.end for interval in outage_intervals], dtype=np.int64)
    nodes = np.concatenate([none, *(interval.nodes for interval in outage_intervals)])
    return OutageData(nodes, begins.repeat(counts), ends.repeat(counts))


BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ModelData:
    """A dispatching problem in a model's terms: `J` jobs, `N` nodes, `R` resource types.

    Times are in seconds from now.

    Attributes
    ----------
    units
        Job units (the papers' rnᵢ), `[J]`.
    requests
        Amount of each resource type that one unit asks for, `[J, R]`.
    run_times
        Predicted run times, `[J]`, at least 1.
    capacity
        Capacity of each node, `[N, R]`.
    room
        Units of each job that an idle node can hold, `[J, N]`: 0 where they may not go, and at most
        1 for a job with one unit per node.
    allocated_until, allocated_on, allocated
        Running jobs have the amounts `allocated`, `[K, R]`, not negative, of nodes `allocated_on`
        until `allocated_until`, both `[K]`; ascending, at least 1.
    weights, free, makespan, curves
        The objective, in whole numbers: Σ weights · max(start, free) over `T` terms of each job,
        `[T, J]`, + makespan · last end, + Σ of each job's start-time cost function, if there are
        any.
    horizon
        Step after which no job needs to end in some best plan.
    latest
        Latest start of each job in some best plan, `[J]`; None if only the horizon limits it.
    shared_resources
        Free amounts of the system's shared resources, and the jobs' draws; None without
        shared resources.
    aggregated_nodes
        All nodes of the system as one resource of each type, also nodes that the model leaves out,
        and the jobs' demands; None: the model's nodes alone.
    outages
        Announced outages of nodes; None without any. Running jobs hold nothing of a node once it is
        down.
    releases
        Step before which no job is planned, `[J]`; empty: 0 for all.
    """

    units: IntArray
    requests: IntArray
    run_times: IntArray
    capacity: IntArray
    room: IntArray
    allocated_until: IntArray
    allocated_on: IntArray
    allocated: IntArray
    weights: IntArray
    free: IntArray
    makespan: int
    horizon: int
    latest: IntArray | None = None
    curves: tuple[StartCostFunction, ...] | None = None
    shared_resources: SharedResourceData | None = None
    aggregated_nodes: SharedResourceData | None = None
    outages: OutageData | None = None
    releases: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if not len(self.releases):
            object.__setattr__(self, "releases", np.zeros(self.job_count, dtype=np.int64))
        for name in ("requests", "capacity", "room", "allocated"):  # as compiled code wants them
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def job_count(self) -> int:
        """Number of jobs, J."""
        return len(self.units)

    @property
    def node_count(self) -> int:
        """Number of nodes, N."""
        return len(self.capacity)

    @property
    def type_count(self) -> int:
        """Number of resource types, R."""
        return int(self.capacity.shape[1])

    @property
    def counted(self) -> bool:
        """True if only the number of units matters, as the only node is one of equal units."""
        alone = self.shared_resources is None and self.outages is None
        return alone and self.node_count == self.type_count == 1

    @cached_property
    def not_allocated(self) -> IntArray:
        """Capacity less the amounts that running jobs hold now, `[N, R]`, of closed nodes too."""
        left = self.capacity.copy()
        np.subtract.at(left, self.allocated_on, self.allocated)
        return left

    @cached_property
    def available(self) -> IntArray:
        """Free amounts now, `[N, R]`; 0 on nodes that are closed."""
        if self.outages is None:
            return self.not_allocated
        available = self.not_allocated.copy()
        # A closed node offers nothing, even if running jobs hold less than all of it.
        available[self.outages.first_begins(self.node_count) == 0] = 0
        return available

    @cached_property
    def room_now(self) -> IntArray:
        """Units of each job that each node has room for now, `[J, N]`.

        There is no room on a node that closes before the job ends.
        """
        fits = self.room.copy()
        for r in range(self.type_count):
            asked = self.requests[:, r]
            some = asked > 0
            rooms = self.available[:, r] // asked[some, np.newaxis]
            fits[some] = np.minimum(fits[some], rooms)
        if self.outages is not None:
            fits[self.run_times[:, np.newaxis] > self.outages.first_begins(self.node_count)] = 0
        return fits

    @cached_property
    def apart(self) -> BoolArray:
        """True for jobs that may have fewer units on some node than their amounts allow, `[J]`.

        Such a job has one unit per node. A model that looks at amounts alone has to keep its units
        on different nodes.
        """
        less = np.zeros(self.job_count, dtype=np.bool_)
        # Job by job: which resource types count differs between them.
        for i in range(self.job_count):
            some = self.requests[i] > 0
            fits = (self.capacity[:, some] // self.requests[i, some]).min(axis=1)
            less[i] = bool(((self.room[i] > 0) & (self.room[i] < fits)).any())
        return less & (self.units > 1)

    @cached_property
    def demands(self) -> IntArray:
        """Amounts that all units of each job ask for together, `[J, R]`."""
        return np.asarray(self.units[:, np.newaxis] * self.requests)

    @cached_property
    def totals(self) -> IntArray:
        """Capacity of all nodes together, `[R]`."""
        return np.asarray(self.capacity.sum(axis=0))

    @property
    def shared_draws(self) -> IntArray:
        """Amount that each job draws from each shared resource, `[J, P]`."""
        shared = self.shared_resources
        return np.zeros((self.job_count, 0), np.int64) if shared is None else shared.draws

    @cached_property
    def allocated_together(self) -> tuple[tuple[int, IntArray], ...]:
        """Amounts that running jobs hold on all nodes together, `[R]`, by their end."""
        ends, of_end = np.unique(self.allocated_until, return_inverse=True)
        amounts = np.zeros((len(ends), self.type_count), dtype=np.int64)
        np.add.at(amounts, of_end, self.allocated)
        return tuple(zip(ends.tolist(), amounts, strict=True))

    @cached_property
    def closed(self) -> tuple[tuple[int, int, int], ...]:
        """Outages of single nodes: node, begin and end, cut at the horizon."""
        if self.outages is None:
            return ()
        nodes, begins, ends = self.outages.until(self.horizon)
        return tuple(zip(nodes.tolist(), begins.tolist(), ends.tolist(), strict=True))

    @cached_property
    def closed_together(self) -> tuple[tuple[int, int, IntArray], ...]:
        """Outages of all nodes together: begin, end and the capacity that is closed, `[R]`.

        Nodes that are closed at the same times are one entry; entries may overlap.
        """
        amounts: dict[tuple[int, int], IntArray] = {}
        for n, begin, end in self.closed:
            before = amounts.get((begin, end))
            amounts[begin, end] = self.capacity[n] if before is None else before + self.capacity[n]
        return tuple((begin, end, closed) for (begin, end), closed in amounts.items())

    @cached_property
    def latest_starts(self) -> IntArray:
        """Latest start of each job, `[J]`."""
        return self.horizon - self.run_times if self.latest is None else self.latest

    def within(self, cost: int) -> "ModelData":
        """Return the data cut down to the plans of at most a given cost.

        In such a plan the linear terms of each job, and its start-time cost function, are each at
        most the cost less the least cost of all other terms. Latest starts and the horizon follow
        from that.
        """
        least = sum(curve.least for curve in self.curves or ())
        spare = cost - least - int((self.weights * self.free).sum())
        latest = np.minimum(self._latest_by_terms(spare), self.latest_starts)
        curves = self.curves
        if curves is not None:
            limits = [curve.latest(curve.least + spare) for curve in curves]
            latest = np.minimum(latest, np.array(limits, dtype=np.int64))
        if self.makespan:
            latest = np.minimum(latest, spare // self.makespan - self.run_times)
        if curves is not None:
            latest = np.maximum(latest, 0)
            pairs = zip(curves, latest.tolist(), strict=True)
            curves = tuple(curve.until(last) for curve, last in pairs)
        # Releases beyond the last job's end stay within the horizon: models have tasks up to them.
        horizon = int((latest + self.run_times).max(initial=self.allocated_until.max(initial=1)))
        return replace(self, horizon=min(horizon, self.horizon), latest=latest, curves=curves)

    def _latest_by_terms(self, spare: int) -> IntArray:
        """Return each job's latest start with terms at most `spare` above their least, `[J]`."""
        low, high = np.zeros_like(self.latest_starts), self.latest_starts
        while (low < high).any():  # no term falls with the start: by bisection
            middle = (low + high + 1) // 2
            more = (self.weights * np.maximum(middle - self.free, 0)).sum(axis=0)
            low = np.where(more <= spare, middle, low)
            high = np.where(more <= spare, high, middle - 1)
        return low

    def cost(self, starts: IntArray) -> int:
        """Return the objective of planned starts, `[J]`."""
        cost = int((self.weights * np.maximum(starts, self.free)).sum())
        pairs = zip(self.curves or (), starts.tolist(), strict=self.curves is not None)
        cost += sum(curve.value(start) for curve, start in pairs)
        if self.makespan and self.job_count:
            cost += self.makespan * int((starts + self.run_times).max())
        return cost


class Plan(NamedTuple):
    """Starts in seconds from now, `[J]`, and units of each job on each node, `[J, N]`.

    A job whose nodes the plan leaves open has no units in `placed`.
    """

    starts: IntArray
    placed: IntArray


def fault_of(plan: Plan, data: ModelData, *, only_now: bool = False) -> str | None:
    """Return the fault of a plan, in words; None if it can be carried out.

    Written to be plain rather than fast, and to share nothing with the code that makes plans.
    """
    starts, placed = plan
    if starts.shape != (data.job_count,) or placed.shape != data.room.shape:
        return "it is not about the jobs and nodes asked about"
    if (starts < 0).any():
        return "a job starts in the past"
    if (placed < 0).any() or (placed > data.room).any():
        return "a node is given units that it cannot hold"
    jobs = [i for i in range(data.job_count) if starts[i] == 0 or not only_now]
    for i in jobs:
        if placed[i].sum() != data.units[i]:
            return f"{placed[i].sum()} units of a job of {data.units[i]} are placed"
    # What is allocated can only grow where a job starts or a node is closed.
    outages = data.outages
    closings = set() if outages is None else set(outages.begins.tolist())
    # Hence these instants are enough; every other second is no fuller than the last of them.
    for time in {int(starts[i]) for i in jobs} | closings:
        used = np.zeros_like(data.capacity)
        allocated = data.allocated_until > time
        np.add.at(used, data.allocated_on[allocated], data.allocated[allocated])
        if outages is not None:
            closed = outages.nodes[(outages.begins <= time) & (time < outages.ends)]
            used[closed] += data.capacity[closed]
        for i in jobs:
            if starts[i] <= time < starts[i] + data.run_times[i]:
                used += placed[i][:, np.newaxis] * data.requests[i]
        if (used > data.capacity).any():
            return "a node is given more than it has"
    shared = data.shared_resources
    return None if shared is None else shared.fault_of(starts, data.run_times, jobs)
