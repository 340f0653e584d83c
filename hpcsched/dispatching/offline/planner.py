"""Off-line planner: initial schedules, large neighbourhood search, exact solver, bound."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.offline.bounds import Bound, lower_bound
from hpcsched.dispatching.offline.exact_cost import MOST_JOBS, WORK, solve
from hpcsched.dispatching.offline.exact_ratio import MOST_JOBS as MOST_JOBS_OF_A_RATIO
from hpcsched.dispatching.offline.exact_ratio import solve_ratio
from hpcsched.dispatching.offline.initial_schedules import (
    OfflineSchedule,
    initial_schedules,
    plan_in,
    plan_of,
    shifted,
)
from hpcsched.dispatching.offline.neighbourhood_search import large_neighbourhood_search
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_objective,
    trace_of,
)
from hpcsched.dispatching.offline.zero_length_jobs import zero_length_starts
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


class _Limits(NamedTuple):
    """The number of pieces of plans to look through, the search's seed, and the solver's effort."""

    pieces: int
    seed: int
    effort: float


class _Answer(NamedTuple):
    """The incumbent, a lower bound, and the work done."""

    incumbent: OfflineSchedule
    bound: Bound
    work: int
    statuses: Counter[str]


def plan_offline(
    problem: OfflineProblem, budget: int, seed: int, effort: float = WORK
) -> OfflinePlan:
    """Return a plan of all jobs of a trace.

    Parameters
    ----------
    problem
        The jobs and the system.
    budget
        Number of pieces of plans to look through for each job, in the whole search.
    seed
        Seed of the search.
    effort
        The solver's deterministic time for a small trace.

    Raises
    ------
    InputError
        An objective or a job cannot be planned for.
    """
    trace = trace_of(problem)
    if trace is None:
        starts: dict[int, int] = {}
        starts |= zero_length_starts(problem, starts, {})
        return OfflinePlan(starts, {}, frozenset(starts), "nothing to plan", None, None, 0, {})
    linearised = linearised_objective(trace)
    firsts = list(initial_schedules(trace, _weights(trace, linearised)))
    if problem.online:
        firsts.append(plan_of(trace, problem.online, problem.origin))
    limits = _Limits(budget * trace.job_count, seed, effort)
    answer = _answer(trace, linearised, firsts, limits)
    incumbent, selection = answer.incumbent, trace.selection
    starts, allocations = {}, {}
    for j, job in enumerate(trace.jobs):
        starts[job.job_id] = int(incumbent.starts[j]) + problem.origin
        if not trace.aggregated:
            allocations[job.job_id] = selection.allocation(j, incumbent.placed[j])
    zero_length = dict(zero_length_starts(problem, starts, allocations))
    ends = {starts[job.job_id] + job.predicted_run_time for job in trace.jobs}
    # A simulation holds rounds at these by itself.
    events = ends | {job.submit_time for job in problem.jobs}
    return OfflinePlan(
        starts | zero_length,
        allocations,
        frozenset(zero_length),
        incumbent.method,
        answer.bound.value,
        answer.bound.source,
        answer.work,
        dict(answer.statuses),
        tuple(sorted({*starts.values()} - events)),
    )


def _answer(
    trace: Trace,
    linearised: LinearisedObjective,
    firsts: Sequence[OfflineSchedule],
    limits: _Limits,
) -> _Answer:
    """Return the best plan found, beginning with the best of some, and the best bound."""
    first = min(firsts, key=lambda incumbent: _value(trace, incumbent))
    incumbent, work = large_neighbourhood_search(
        trace, linearised, first, limits.pieces, np.random.default_rng(limits.seed)
    )
    # Shifting jobs to earlier starts can make a ratio of sums worse.
    if _value(trace, first) < _value(trace, incumbent):
        incumbent = first
    statuses: Counter[str] = Counter()
    bound = lower_bound(trace, linearised, incumbent.starts)
    if trace.job_count > (MOST_JOBS_OF_A_RATIO if linearised.ratio else MOST_JOBS):
        return _Answer(incumbent, bound, work, statuses)
    if linearised.ratio:
        least = solve_ratio(trace, linearised, incumbent.starts, limits.effort)
        statuses, proved = least.statuses, least.bound
        solved = _carried_out(trace, least.starts)
        # Jobs may start late on purpose: none is shifted to before where the solver has it.
        late = trace._replace(content=trace.content._replace(releases=least.starts))
        as_found = plan_in(late, np.argsort(least.starts, kind="stable"), solved.method)
        solved = min(solved, as_found, key=lambda incumbent: _value(trace, incumbent))
    else:
        exact = solve(trace, linearised.costs, incumbent.starts, limits.effort)
        statuses = exact.statuses
        solved = _carried_out(trace, exact.starts)
        proved = linearised.value(exact.bound)
    if _value(trace, solved) < _value(trace, incumbent):
        incumbent = solved
    if proved > bound.value:
        bound = Bound(proved, "the solver")
    return _Answer(incumbent, bound, work, statuses)


def _carried_out(trace: Trace, starts: IntArray) -> OfflineSchedule:
    """Return a plan that takes the jobs in the order of the solver's starts, on nodes."""
    order = np.argsort(starts, kind="stable")
    return shifted(trace, plan_in(trace, order, "the solver"))


def _value(trace: Trace, incumbent: OfflineSchedule) -> float:
    value = trace.measure(incumbent.starts)
    return float("inf") if value is None else value


def _weights(trace: Trace, linearised: LinearisedObjective) -> FloatArray:
    """Return each job's cost of a second of waiting at its submission; 1 where there is none."""
    if linearised.ratio or not linearised.costs.weights.any():
        return np.ones(trace.job_count)
    return np.asarray(linearised.costs.weights.sum(axis=0))
