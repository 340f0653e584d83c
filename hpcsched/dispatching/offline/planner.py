"""Off-line planner: initial schedules, large neighbourhood search, exact solver, bound."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import FreeResources, plan_in_order, replay_list, search_neighbourhoods
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.offline.bounds import Bound, lower_bound
from hpcsched.dispatching.offline.exact_plans import MOST_JOBS, WORK, solve
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_at,
    linearised_objective,
    trace_of,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.plan_execution import planned_reasons
from hpcsched.dispatching.planning.start_time_costs import least_of_each, total
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_calls import open_workspace
from hpcsched.dispatching.rules.orders import KEYS
from hpcsched.system.system import IntArray

_ORDERS: tuple[Callable[[WaitingJob], Any], ...] = (
    attrgetter("submit_time"),
    *(KEYS[name] for name in ("sjf", "saf", "laf", "spf")),
)

WIDTHS = (8, 16, 32)
"""Number of jobs that are planned anew together, pass by pass."""

_LEAST_GAIN = 1e-5
"""A round of passes that gains less, relatively, is the last."""


class OfflineSchedule(NamedTuple):
    """A schedule of a whole trace.

    Attributes
    ----------
    starts
        Starts in seconds from the origin, `[J]`.
    placed
        Units of each job on each node, `[J, N]`.
    """

    starts: IntArray
    placed: IntArray


def plan_in(trace: Trace, order: IntArray) -> OfflineSchedule:
    """Return the schedule of all jobs in an order, `[J]`, each at its earliest start."""
    starts = np.empty(trace.job_count, dtype=np.int64)
    placed = np.zeros_like(trace.data.room)
    done = plan_in_order(order, trace.data, FreeResources(trace.data), starts, placed)
    assert done, "a job does not fit on the idle system"
    return OfflineSchedule(starts, placed)


def shifted(trace: Trace, incumbent: OfflineSchedule) -> OfflineSchedule:
    """Return a schedule with every job as early as it can be on its nodes, in order of starts.

    No job starts later than before, and each starts where another one ends, or at its submission.
    """
    order = np.argsort(incumbent.starts, kind="stable")
    # Each job keeps its nodes: there is room for it nowhere else.
    bound = trace if trace.aggregated else trace.replaced(room=incumbent.placed)
    return plan_in(bound, order)


def initial_schedules(trace: Trace, weights: FloatArray) -> Iterator[OfflineSchedule]:
    """Yield schedules of all jobs, in different orders.

    They take the jobs of the whole trace in one order each, by the keys of the queue orders and by
    area over weight in the objective (Smith, 1956). Where units are alike, list scheduling on-line
    in these orders gives further ones.

    Parameters
    ----------
    weights
        Cost of a second of waiting of each job, `[J]`.
    """
    for key in _ORDERS:
        # Jobs are numbered by submission, and sorting is stable: ties are broken by arrival.
        ranked = sorted(range(trace.job_count), key=lambda j: key(trace.jobs[j]))
        order = np.array(ranked, dtype=np.int64)
        yield plan_in(trace, order)
        if trace.aggregated:
            yield _replayed(trace, order)
    areas = np.array([float(job.area) for job in trace.jobs])
    ratio = areas / np.maximum(weights, 1e-300)
    yield plan_in(trace, np.argsort(ratio, kind="stable"))


def plan_of(trace: Trace, online: Mapping[int, int], origin: int) -> OfflineSchedule:
    """Return a schedule with the starts of an on-line dispatcher.

    Where units are not alike it takes the jobs in the order of these starts.

    Parameters
    ----------
    online
        Starts by job number, in seconds.
    origin
        Time from which the schedule counts, in seconds.
    """
    starts = np.array([online[job.job_id] - origin for job in trace.jobs], dtype=np.int64)
    if trace.aggregated:
        return OfflineSchedule(starts, np.zeros_like(trace.data.room))
    return plan_in(trace, np.argsort(starts, kind="stable"))


def _replayed(trace: Trace, order: IntArray) -> OfflineSchedule:
    """Return the schedule of list scheduling with backfilling on-line."""
    rank, starts = np.empty_like(order), np.empty_like(order)
    rank[order] = np.arange(trace.job_count)
    demands, slots = trace.data.demands[:, 0].copy(), int(trace.data.totals[0])
    replay_list(rank, trace.submit, demands, trace.run_times, slots, starts)
    return OfflineSchedule(starts, np.zeros_like(trace.data.room))


def large_neighbourhood_search(
    trace: Trace,
    linearised: LinearisedObjective,
    incumbent: OfflineSchedule,
    budget: int,
    random: np.random.Generator,
) -> OfflineSchedule:
    """Return the best plan found from an incumbent on.

    Every plan that is returned has its jobs shifted to the earliest start on their nodes. The
    search ends with the budget, or when going through all jobs brings nothing more.
    """
    best = shifted(trace, incumbent)
    value = _value(trace, linearised, best)
    # Never 0, which the generator of compiled code would not leave.
    state = random.integers(1, 1 << 62, size=1, dtype=np.int64)
    while budget > 0:
        before = value
        for width in WIDTHS:
            if linearised.ratio:
                # Dinkelbach: the cost at the incumbent's ratio is below 0 just for plans of a lower
                # ratio.
                linearised = linearised_at(linearised, value)
            seeds = random.permutation(trace.job_count)
            starts, placed = best.starts.copy(), best.placed.copy()
            order = np.argsort(starts, kind="stable")
            costs = linearised.costs
            _, least = least_of_each(costs)
            budget = search_neighbourhoods(
                seeds, width, budget, state, trace.data, costs, least, order, starts, placed
            )
            plan = shifted(trace, OfflineSchedule(starts, placed))
            found = _value(trace, linearised, plan)
            # The cost of a pass is linearised; only the objective itself decides what is kept.
            if found < value:
                best, value = plan, found
            if budget <= 0:
                break
        if before - value <= _LEAST_GAIN * abs(before):
            break
    return best


def _value(trace: Trace, linearised: LinearisedObjective, incumbent: OfflineSchedule) -> float:
    """Return the objective of a plan, or a value that rises and falls with it."""
    value = trace.measure(incumbent.starts) if linearised.ratio else None
    return total(linearised.costs, incumbent.starts) if value is None else value


@dataclass(frozen=True)
class ReplaysPlan:
    """Starts each job at its planned time, on the plan's nodes or else on the allocator's.

    A planned start is the submission of a job or the end of one, so that there is a round then.
    """

    plan: OfflinePlan
    allocator: Allocator

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now; raises ValueError where one should have started before."""
        planned = {job.job_id: self.plan.starts[job.job_id] for job in problem.queue}
        for job_id, start in planned.items():
            if start < problem.now:
                raise ValueError(f"job {job_id} was to start at {start}")
        workspace, places = open_workspace(problem, self.allocator), self.plan.allocations
        due = [job for job in problem.queue if planned[job.job_id] == problem.now]
        decision = Decision(
            tuple(Start(job.job_id, places.get(job.job_id) or workspace.place(job)) for job in due)
        )
        if not problem.explain:
            return decision
        reasons = planned_reasons(problem, decision, planned, self.allocator)
        return decision._replace(reasons=reasons)


def plan_offline(
    problem: OfflineProblem, budget: int, seed: int, effort: float = WORK
) -> OfflinePlan:
    """Return a plan of all jobs of a trace."""
    trace = trace_of(problem)
    if trace is None:
        return OfflinePlan({}, {}, None, None)
    linearised = linearised_objective(trace)
    firsts = list(initial_schedules(trace, _weights(trace, linearised)))
    if problem.online:
        firsts.append(plan_of(trace, problem.online, problem.origin))
    first = min(firsts, key=lambda schedule: _measured(trace, schedule))
    incumbent = large_neighbourhood_search(
        trace, linearised, first, budget * trace.job_count, np.random.default_rng(seed)
    )
    # Shifting jobs to earlier starts can make a ratio of sums worse.
    if _measured(trace, first) < _measured(trace, incumbent):
        incumbent = first
    bound = lower_bound(trace, linearised, incumbent.starts)
    if not linearised.ratio and trace.job_count <= MOST_JOBS:
        better, least = solve(trace, linearised.costs, incumbent.starts, effort)
        found = shifted(trace, plan_in(trace, np.argsort(better, kind="stable")))
        incumbent = min(incumbent, found, key=lambda schedule: _measured(trace, schedule))
        bound = max(bound, Bound(linearised.value(least), "the solver"), key=itemgetter(0))
    starts = {
        job.job_id: start + problem.origin
        for job, start in zip(trace.jobs, incumbent.starts.tolist(), strict=True)
    }
    allocations = {
        job.job_id: trace.selection.allocation(j, incumbent.placed[j])
        for j, job in enumerate(() if trace.aggregated else trace.jobs)
    }
    return OfflinePlan(starts, allocations, bound.value, bound.source)


def _measured(trace: Trace, incumbent: OfflineSchedule) -> float:
    value = trace.measure(incumbent.starts)
    return float("inf") if value is None else value


def _weights(trace: Trace, linearised: LinearisedObjective) -> FloatArray:
    """Return each job's cost of a second of waiting at its submission; 1 where there is none."""
    if linearised.ratio or not linearised.costs.weights.any():
        return np.ones(trace.job_count)
    return np.asarray(linearised.costs.weights.sum(axis=0))
