"""HCP'19, and the common parts of formulations: starts, allocated amounts, the objective.

In the papers' notation (Galleguillos et al., CP 2021, section 2.2): s(τᵢ) is `starts[i]`, d(τᵢ)
`run_times[i]`, with now as time 0 and eoh as `horizon`.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts, Variable
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.planning.start_time_costs import StartCostFunction
from hpcsched.system.system import IntArray

Task = tuple[Any, int, Any]
"""Start, run time and demand; the start and the demand may be variables."""


def curve_cost(curve: StartCostFunction, start: Variable, name: str) -> tuple[Any, list[Any]]:
    """Return an expression for the cost of a start that is minimised, and its constraints.

    The expression is at least the cost, and equal to it where it is minimised. A straight line that
    is nowhere above the curve bounds the cost from below at every start. The other pieces hold in
    their parts of the time alone: of neighbouring parts, in each of which the curve is convex, the
    start is in one. Where two meet they cost the same.
    """
    slopes = curve.slopes
    if len(set(slopes)) <= 1:
        return sum(slopes[:1]) * start + curve.cost[0], []
    cost = cp.intvar(min(curve.cost), max(curve.cost), name=f"cost{name}")
    lines = [
        (slope, value - slope * begin)
        for slope, begin, value in zip(slopes, curve.at, curve.cost, strict=False)
    ]
    # A line below the whole curve holds at every start, so it needs no Boolean. Not a set of lines:
    # what a solver answers depends on the order of its constraints.
    anywhere = [line for line in dict.fromkeys(lines) if _nowhere_above(line, curve)]
    constraints = [cost >= slope * start + height for slope, height in anywhere]
    if len(anywhere) == len(set(lines)):
        return cost, constraints
    parts = _convex_parts(slopes)
    # One Boolean a convex part, not one a piece: solvers branch on far fewer.
    here = [cp.boolvar(name=f"part{name},{k}") for k in range(len(parts))]
    constraints.append(cp.sum(here) == 1)
    for within, pieces in zip(here, parts, strict=True):
        first, last = curve.at[pieces.start], curve.at[pieces.stop]
        if pieces.start > 0:
            constraints.append(within.implies(start >= first))
        if pieces.stop < len(slopes):
            constraints.append(within.implies(start <= last))
        constraints += [
            within.implies(cost >= slope * start + height)
            for slope, height in dict.fromkeys(lines[pieces.start : pieces.stop])
            if (slope, height) not in anywhere
        ]
    return cost, constraints


def _nowhere_above(line: tuple[int, int], curve: StartCostFunction) -> bool:
    slope, height = line
    return all(slope * at + height <= value for at, value in zip(curve.at, curve.cost, strict=True))


def _convex_parts(slopes: tuple[int, ...]) -> list[range]:
    """Return the pieces in as few runs as there can be in which no slope is below the last."""
    begins = [0, *(k for k in range(1, len(slopes)) if slopes[k] < slopes[k - 1]), len(slopes)]
    return [range(first, last) for first, last in pairwise(begins)]


def start_variables(data: ModelData, fixed: IntArray) -> list[Variable]:
    """Return a start variable for each job, from now to its latest start, `[J]`.

    Parameters
    ----------
    fixed
        Starts of the jobs that get a number in place of a variable; −1 for the others, `[J]`.
    """
    return [
        cp.intvar(0, latest, name=f"s{i}") if start < 0 else start
        for i, (latest, start) in enumerate(
            zip(data.latest_starts.tolist(), fixed.tolist(), strict=True)
        )
    ]


def objective(data: ModelData, starts: Sequence[Variable]) -> tuple[Any, list[Any]]:
    """Return the expression to minimise, and the constraints that it needs.

    It is Σ weights · max(start, free) + makespan · last end + Σ curve at start.

    Parameters
    ----------
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    """
    terms, constraints = [], []
    constant = 0
    for i, start in enumerate(starts):
        latest = start if isinstance(start, int) else int(data.latest_starts[i])
        for t, (weight, free) in enumerate(
            zip(data.weights[:, i].tolist(), data.free[:, i].tolist(), strict=True)
        ):
            if not weight:
                continue
            # The start never matters for this term, so no variable is spent on it.
            if free >= latest:
                constant += weight * free
                continue
            late = start
            if free > 0:
                late = cp.intvar(free, latest, name=f"late{t},{i}")
                # Only from below: as it is minimised, it becomes the later of start and `free`.
                constraints.append(late >= start)
            terms.append(weight * late)
    for i, (start, curve) in enumerate(zip(starts, data.curves or (), strict=bool(data.curves))):
        if isinstance(start, int) or not any(curve.slopes):
            constant += curve.value(start if isinstance(start, int) else 0)
            continue
        cost, needed = curve_cost(curve, start, str(i))
        terms.append(cost)
        constraints += needed
    if data.makespan and len(starts):
        end = cp.intvar(int(data.run_times.max()), data.horizon, name="end")
        constraints += [
            end >= start + int(run_time)
            for start, run_time in zip(starts, data.run_times, strict=True)
        ]
        terms.append(data.makespan * end)
    # CPMpy wants a variable in what is minimised.
    return cp.sum(terms or [cp.intvar(0, 0, name="nothing")]) + constant, constraints


class Nowhere(NamedTuple):
    """No variables: units run on no node that is named."""

    data: ModelData

    def placed(self) -> IntArray:
        """Return that no job has nodes, `[J, N]`."""
        return np.zeros((self.data.job_count, self.data.node_count), dtype=np.int64)

    def hint(self, _plan: Plan) -> dict[Variable, int]:
        """Return nothing."""
        return {}


def largest_aggregated_area(data: ModelData) -> int:
    """Return the largest area of a resource type, over all nodes and the horizon."""
    totals = data.totals if data.aggregated_nodes is None else data.aggregated_nodes.capacity
    return int(totals.max(initial=1)) * data.horizon


def cumulative(tasks: Sequence[Task], capacity: int) -> Any:
    """Return the cumulative of tasks, at least one."""
    begins, durations, demands = (list(column) for column in zip(*tasks, strict=True))
    return cp.Cumulative(begins, durations, demand=demands, capacity=capacity)


def cumulatives(parts: ModelParts) -> list[Any]:
    """Return a cumulative for each resource type over all nodes together.

    Running jobs are merged by their ends, and closed nodes by the times at which they are. A type
    that cannot be short gets none.
    """
    data = parts.data
    fixed = [(0, end, allocated) for end, allocated in data.allocated_together]
    fixed += [(begin, end - begin, closed) for begin, end, closed in data.closed_together]
    jobs = zip(parts.starts, data.run_times.tolist(), data.demands, strict=True)
    most = sum((amounts for _, _, amounts in fixed), np.zeros(data.type_count, dtype=np.int64))
    return _scarce([*jobs], fixed, most, data.totals)


def system_cumulatives(parts: ModelParts) -> list[Any]:
    """Return a cumulative for each resource type, over all nodes of the system together."""
    aggregated = parts.data.aggregated_nodes
    if aggregated is None:
        return cumulatives(parts)
    return _shared_cumulatives(parts, aggregated, put_off=True)


def shared_resources(parts: ModelParts) -> list[Any]:
    """Return a cumulative for each shared resource, where one can be short.

    As power is in the first HCP (Borghesi et al.; thesis 2020, section 2.3), a shared resource is
    one more resource that all jobs share. While less than its largest amount is free, a fixed task
    takes the difference.
    """
    shared = parts.data.shared_resources
    return [] if shared is None else _shared_cumulatives(parts, shared, put_off=False)


def _shared_cumulatives(
    parts: ModelParts, shared_resources: SharedResourceData, *, put_off: bool
) -> list[Any]:
    """Return the cumulatives; `put_off`: whether jobs with a fixed start draw as well."""
    data, since = parts.data, shared_resources.since
    jobs = [
        job
        for job in zip(parts.starts, data.run_times.tolist(), shared_resources.draws, strict=True)
        if put_off or not isinstance(job[0], int)
    ]
    # The last amount lasts for ever; a task needs a finite length, up to the horizon.
    lengths = np.append(np.diff(since), max(data.horizon - int(since[-1]), 1))
    missing = shared_resources.capacity - shared_resources.free
    fixed = [
        task
        for task in zip(since.tolist(), lengths.tolist(), missing, strict=True)
        if task[0] < data.horizon
    ]
    return _scarce(jobs, fixed, missing.max(axis=0), shared_resources.capacity)


def _scarce(
    jobs: Sequence[tuple[Variable, int, IntArray]],
    fixed: Sequence[tuple[int, int, IntArray]],
    most: IntArray,
    capacity: IntArray,
) -> list[Any]:
    """Return a cumulative for each resource that can be short.

    Tasks have amounts of all resources; the fixed ones take `most` together at any time.
    """
    constraints = []
    for r, total in enumerate(capacity.tolist()):
        tasks = [(start, run_time, int(drawn[r])) for start, run_time, drawn in jobs if drawn[r]]
        # Otherwise all tasks fit at once, and the constraint would only cost propagation.
        if sum(amount for _, _, amount in tasks) + int(most[r]) > total:
            tasks += [(begin, length, int(drawn[r])) for begin, length, drawn in fixed if drawn[r]]
            constraints.append(cumulative(tasks, total))
    return constraints


def disjunctions(parts: ModelParts) -> list[Any]:
    """Return which jobs cannot run at the same time, as together they ask for more than there is.

    The thesis posts a disjunction for two jobs whose energies exceed what there is while the longer
    one runs: d(τᵢ) · Eᵢ + d(τⱼ) · Eⱼ > max(d(τᵢ), d(τⱼ)) · capᵣ, with E what all units of a job ask
    for (section 6.1). That implies Eᵢ + Eⱼ > capᵣ, for which it is posted here.

    Of a resource type, any two jobs that ask for more than half are disjunct; one that asks for
    less is disjunct from those of them that leave it too little.
    """
    data, starts = parts.data, parts.starts
    demands = data.demands
    groups: set[tuple[int, ...]] = set()
    for demand, total in zip(demands.T, data.totals.tolist(), strict=True):
        # Any two of them exceed the total, which one constraint can say of all together.
        large = np.flatnonzero(2 * demand > total)
        groups.add(tuple(large.tolist()))
        for i in np.flatnonzero(2 * demand <= total).tolist():
            beside = large[demand[large] + demand[i] > total]
            groups.add(tuple(sorted((i, *beside.tolist()))))
    # A pair within a larger group is disjunct already.
    known = {pair for group in groups if len(group) > 2 for pair in combinations(group, 2)}
    constraints: list[Any] = [
        cp.NoOverlap([starts[i] for i in group], [int(data.run_times[i]) for i in group])
        for group in sorted(groups)
        if len(group) > 2 or (len(group) == 2 and group not in known)
    ]
    soonest = np.zeros(data.job_count, dtype=np.int64)
    allocated = np.zeros(data.type_count, dtype=np.int64)
    # From the last end back: at any time all that ends later is allocated.
    for end, amounts in reversed(data.allocated_together):
        allocated = allocated + amounts
        waits = (demands + allocated > data.totals).any(axis=1)
        soonest = np.where(waits, np.maximum(soonest, end), soonest)
    constraints += [
        start >= first for start, first in zip(starts, soonest.tolist(), strict=True) if first
    ]
    return constraints


def hcp19(first: int | None = None) -> Formulation:
    """Return HCP'19: aggregated nodes, one resource of each type; nodes come afterwards.

    Model (Galleguillos, thesis 2020, sections 2.3, 5.1 and 5.2; Galleguillos et al., CP 2021,
    section 2.2): for queued jobs τᵢ, starts s(τᵢ) ∈ [t, eoh]; for each resource type r,
    cumulative([s(τᵢ)], [d(τᵢ)], [reqᵢᵣ], Tcapᵣ), running jobs included; the objective is minimised.
    There are |Q̄| decision variables. Jobs that start now are put on nodes by a heuristic, which
    may fail: the model is a relaxation.

    Ours departs in this: what running jobs hold is one task for each stretch of time in which it is
    the same, and a resource type that cannot be short has no constraint. Neither changes a plan.
    With `first`, only so many jobs may start when they like; all others are postponed to the end of
    the horizon, as in the first HCP (thesis 2020, section 2.3).
    """
    return Formulation(
        "HCP'19",
        "relaxation",
        "nothing",
        start_count,
        largest_aggregated_area,
        Nowhere,
        (system_cumulatives,),
        first=first,
    )


def start_count(data: ModelData) -> int:
    """Return |Q̄|."""
    return data.job_count
