"""Off-line planner: initial schedules, large neighbourhood search, exact solver, bound."""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from hpcsched.dispatching.offline.bounds import Bound, lower_bound
from hpcsched.dispatching.offline.exact_plans import MOST_JOBS, WORK, solve
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_objective,
    trace_of,
)
from hpcsched.dispatching.offline.trace_schedules import (
    OfflineSchedule,
    initial_schedules,
    large_neighbourhood_search,
    plan_in,
    plan_of,
    shifted,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.space import NodeAllocation, NodeSpace, units_that_fit


def plan_offline(
    problem: OfflineProblem, budget: int, seed: int, effort: float = WORK
) -> OfflinePlan:
    """Return a plan of all jobs of a trace."""
    trace = trace_of(problem)
    if trace is None:
        starts: dict[int, int] = {}
        starts |= zero_length_starts(problem, starts, {})
        return OfflinePlan(starts, {}, frozenset(starts), "nothing to plan", None, None, 0, {})
    linearised = linearised_objective(trace)
    firsts = list(initial_schedules(trace, _weights(trace, linearised)))
    if problem.online:
        firsts.append(plan_of(trace, problem.online, problem.origin))
    first = min(firsts, key=lambda schedule: _value(trace, schedule))
    incumbent, work = large_neighbourhood_search(
        trace, linearised, first, budget * trace.job_count, np.random.default_rng(seed)
    )
    # Shifting jobs to earlier starts can make a ratio of sums worse.
    if _value(trace, first) < _value(trace, incumbent):
        incumbent = first
    incumbent, bound, statuses = _solved(trace, linearised, incumbent, effort)
    starts, allocations = {}, {}
    for j, job in enumerate(trace.jobs):
        starts[job.job_id] = int(incumbent.starts[j]) + problem.origin
        if not trace.aggregated:
            allocations[job.job_id] = trace.selection.allocation(j, incumbent.placed[j])
    zero_length = dict(zero_length_starts(problem, starts, allocations))
    return OfflinePlan(
        starts | zero_length,
        allocations,
        frozenset(zero_length),
        incumbent.method,
        bound.value,
        bound.source,
        work,
        dict(statuses),
    )


def _solved(
    trace: Trace, linearised: LinearisedObjective, incumbent: OfflineSchedule, effort: float
) -> tuple[OfflineSchedule, Bound, Counter[str]]:
    """Return the best plan and bound known, by a solver too for a small trace, and its outcomes."""
    bound = lower_bound(trace, linearised, incumbent.starts)
    if linearised.ratio or trace.job_count > MOST_JOBS:
        return incumbent, bound, Counter()
    exact = solve(trace, linearised.costs, incumbent.starts, effort)
    order = np.argsort(exact.starts, kind="stable")
    found = shifted(trace, plan_in(trace, order, "the solver"))
    incumbent = min(incumbent, found, key=lambda schedule: _value(trace, schedule))
    proved = linearised.value(exact.bound)
    if proved > bound.value:
        bound = Bound(proved, "the solver")
    return incumbent, bound, exact.statuses


def _value(trace: Trace, incumbent: OfflineSchedule) -> float:
    value = trace.measure(incumbent.starts)
    return float("inf") if value is None else value


def _weights(trace: Trace, linearised: LinearisedObjective) -> FloatArray:
    """Return each job's cost of a second of waiting at its submission; 1 where there is none."""
    if linearised.ratio or not linearised.costs.weights.any():
        return np.ones(trace.job_count)
    return np.asarray(linearised.costs.weights.sum(axis=0))


def zero_length_starts(
    problem: OfflineProblem, starts: Mapping[int, int], allocations: Mapping[int, NodeAllocation]
) -> Iterator[tuple[int, int]]:
    """Yield the number and the start of each zero-length job.

    It starts at its submission or at the first end of another job after it at which there is room
    beside the jobs that started before and still run. It holds nothing, so it delays no one: jobs
    that start at the same instant do so after it.

    Parameters
    ----------
    starts
        Starts of the other jobs in seconds, by job number.
    allocations
        Nodes of the other jobs; empty where the system consists of slots.
    """
    idle = [job for job in problem.jobs if job.predicted_run_time == 0]
    if not idle:
        return
    others = [job for job in problem.jobs if job.predicted_run_time > 0]
    ends: list[int] = []
    for job in others:
        insort(ends, starts[job.job_id] + job.predicted_run_time)
    for job in idle:
        # Room only comes free at ends, so that no other instant needs to be looked at.
        for time in (job.submit_time, *ends[bisect_right(ends, job.submit_time) :]):
            beside = [
                other
                for other in others
                if starts[other.job_id] < time < starts[other.job_id] + other.predicted_run_time
            ]
            if _fits(problem, job, beside, allocations):
                yield job.job_id, time
                break


def _fits(
    problem: OfflineProblem,
    job: WaitingJob,
    beside: list[WaitingJob],
    allocations: Mapping[int, NodeAllocation],
) -> bool:
    if problem.free_slots is not None:
        slots = sum(high - low for low, high in problem.free_slots)
        return slots - sum(other.units for other in beside) >= job.units
    space = NodeSpace(problem.system)
    for other in beside:
        space.claim(allocations[other.job_id], other.request)
    fits = units_that_fit(problem.system, space.available, job.request)
    return int(np.sum(fits)) >= job.units
