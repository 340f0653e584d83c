"""What a model is built from: jobs, nodes and what running jobs hold, as plain arrays."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.planning.outage_data import OutageData
from hpcsched.dispatching.planning.pool_data import PoolData
from hpcsched.dispatching.planning.start_cost_functions import StartCostFunction
from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ModelData:
    """A dispatching problem in a model's terms: `J` jobs, `N` nodes, `R` resource types.

    Times are counted in steps from now; a step is `step` seconds. Durations are rounded up to whole
    steps, so that a plan in steps can be carried out in seconds.

    - `units`, `[J]`: job units (the papers' rnᵢ); `requests`, `[J, R]`: what each asks for;
      `run_times`, `[J]`: predicted, at least 1.
    - `capacity`, `[N, R]`; `room`, `[J, N]`: how many units of a job an idle node can hold, 0 where
      they may not go, and at most 1 for a scattered job.
    - `held_until`, `held_on`, `[K]`, and `held`, `[K, R]`: running jobs hold these amounts, not
      negative, of these nodes until then, ascending, at least 1.
    - `weights`, `free`, `[T, J]`, `makespan` and `curves`: the objective, in whole numbers: Σ
      weights · max(start, free) over `T` terms of each job, + makespan · last end, + Σ of each
      job's curve at its start, if there are curves.
    - `pools`: what is free of the system's pools, and what jobs draw; None where there are none.
    - `aggregated_nodes`: what is free of each resource type on all nodes of the system together,
      also those that the model leaves out, and the jobs' demands; None: the model's nodes alone.
    - `outages`: when nodes are closed by announced outages; None where none is. Running jobs hold
      nothing of a node once it is closed.
    - `horizon`: no job needs to end later in some best plan. `latest`, `[J]`: nor to start later;
      None if only the horizon says so.
    """

    step: int
    units: IntArray
    requests: IntArray
    run_times: IntArray
    capacity: IntArray
    room: IntArray
    held_until: IntArray
    held_on: IntArray
    held: IntArray
    weights: IntArray
    free: IntArray
    makespan: int
    horizon: int
    latest: IntArray | None = None
    curves: tuple[StartCostFunction, ...] | None = None
    pools: PoolData | None = None
    aggregated_nodes: PoolData | None = None
    outages: OutageData | None = None

    def __post_init__(self) -> None:
        for name in ("requests", "capacity", "room", "held"):  # as compiled code wants them
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def job_count(self) -> int:
        """J."""
        return len(self.units)

    @property
    def node_count(self) -> int:
        """N."""
        return len(self.capacity)

    @property
    def type_count(self) -> int:
        """R."""
        return int(self.capacity.shape[1])

    @cached_property
    def not_held(self) -> IntArray:
        """Capacity less what running jobs hold now, `[N, R]`, of closed nodes too."""
        left = self.capacity.copy()
        np.subtract.at(left, self.held_on, self.held)
        return left

    @cached_property
    def available(self) -> IntArray:
        """What is free now, `[N, R]`; nothing on nodes that are closed."""
        if self.outages is None:
            return self.not_held
        available = self.not_held.copy()
        available[self.outages.first_begins(self.node_count) == 0] = 0
        return available

    @cached_property
    def room_now(self) -> IntArray:
        """How many units of each job each node has room for now, `[J, N]`.

        Of a node that is closed before the job ends there is no room for it.
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
        """Which jobs may have fewer units on some node than its amounts allow, `[J]`.

        They are scattered, and have one unit on a node. What only looks at amounts has to see to it
        that their units are on different nodes.
        """
        less = np.zeros(self.job_count, dtype=np.bool_)
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
    def pool_draws(self) -> IntArray:
        """What each job draws from pools, `[J, P]`."""
        return np.zeros((self.job_count, 0), np.int64) if self.pools is None else self.pools.draws

    @property
    def pool_magnitude(self) -> int:
        """The largest area of a pool over the horizon; 0 where there are none."""
        return 0 if self.pools is None else int(self.pools.capacity.max()) * self.horizon

    @cached_property
    def held_together(self) -> tuple[tuple[int, IntArray], ...]:
        """What running jobs hold on all nodes together until each of their ends, `[R]` each."""
        ends, of_end = np.unique(self.held_until, return_inverse=True)
        amounts = np.zeros((len(ends), self.type_count), dtype=np.int64)
        np.add.at(amounts, of_end, self.held)
        return tuple(zip(ends.tolist(), amounts, strict=True))

    @cached_property
    def closed(self) -> tuple[tuple[int, int, int], ...]:
        """Nodes that are closed before the horizon, each with from when to when, up to it."""
        if self.outages is None:
            return ()
        nodes, begins, ends = self.outages.until(self.horizon)
        return tuple(zip(nodes.tolist(), begins.tolist(), ends.tolist(), strict=True))

    @cached_property
    def closed_together(self) -> tuple[tuple[int, int, IntArray], ...]:
        """From when to when how much of all nodes together is closed, `[R]` each.

        Nodes that are closed at the same times are one entry; entries may overlap.
        """
        amounts: dict[tuple[int, int], IntArray] = {}
        for n, begin, end in self.closed:
            before = amounts.get((begin, end))
            amounts[begin, end] = self.capacity[n] if before is None else before + self.capacity[n]
        return tuple((begin, end, closed) for (begin, end), closed in amounts.items())

    @cached_property
    def latest_starts(self) -> IntArray:
        """When each job has to start at the latest, `[J]`."""
        return self.horizon - self.run_times if self.latest is None else self.latest

    def within(self, cost: int) -> "ModelData":
        """Return the same data without what no plan of at most this cost needs.

        In such a plan the linear terms of each job, and its curve, are each at most the cost less
        what all else costs at least.
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
        horizon = int((latest + self.run_times).max(initial=self.held_until.max(initial=1)))
        return replace(self, horizon=min(horizon, self.horizon), latest=latest, curves=curves)

    def _latest_by_terms(self, spare: int) -> IntArray:
        """Return the latest starts at which the terms of a job cost at most `spare` more, `[J]`."""
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
