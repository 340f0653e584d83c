"""Plans a whole trace: first plans, a search in windows, a solver for small ones, and a bound."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.offline.bounds import Bound, lower_bound
from hpcsched.dispatching.offline.exact_cost import MOST_JOBS, WORK, solve
from hpcsched.dispatching.offline.exact_ratio import MOST_JOBS as MOST_JOBS_OF_A_RATIO
from hpcsched.dispatching.offline.exact_ratio import solve_ratio
from hpcsched.dispatching.offline.initial_schedules import (
    Known,
    first_plans,
    plan_in,
    plan_of,
    shifted,
)
from hpcsched.dispatching.offline.neighbourhood_search import improved
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.offline.offline_trace import Goal, Trace, goal_of, trace_of
from hpcsched.dispatching.offline.zero_length_jobs import instants
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


class _Limits(NamedTuple):
    """How many pieces of plans to look through, the search's seed, and the solver's effort."""

    pieces: int
    seed: int
    effort: float


class _Answer(NamedTuple):
    """The best plan known, a lower bound, and what it took."""

    known: Known
    bound: Bound
    work: int
    statuses: Counter[str]


def plan_offline(
    problem: OfflineProblem, budget: int, seed: int, effort: float = WORK
) -> OfflinePlan:
    """Return a plan of all jobs of a trace.

    `budget` is how many pieces of plans may be looked through for each job, in all of the search;
    `effort` is for how long the solver works on a small trace, in its deterministic time.
    Raises InputError for an objective or a job that cannot be planned for.
    """
    trace = trace_of(problem)
    if trace is None:
        starts: dict[int, int] = {}
        starts |= instants(problem, starts, {})
        return OfflinePlan(starts, {}, frozenset(starts), "nothing to plan", None, None, 0, {})
    goal = goal_of(trace)
    firsts = list(first_plans(trace, _weights(trace, goal)))
    if problem.online:
        firsts.append(plan_of(trace, problem.online, problem.origin))
    limits = _Limits(budget * trace.job_count, seed, effort)
    answer = _answer(trace, goal, firsts, limits)
    known, selection = answer.known, trace.selection
    starts, allocations = {}, {}
    for j, job in enumerate(trace.jobs):
        starts[job.job_id] = int(known.starts[j]) + problem.origin
        if not trace.pooled:
            allocations[job.job_id] = selection.allocation(j, known.placed[j])
    passing = dict(instants(problem, starts, allocations))
    ends = {starts[job.job_id] + job.predicted_run_time for job in trace.jobs}
    events = ends | {job.submit_time for job in problem.jobs}
    return OfflinePlan(
        starts | passing,
        allocations,
        frozenset(passing),
        known.method,
        answer.bound.value,
        answer.bound.source,
        answer.work,
        dict(answer.statuses),
        tuple(sorted({*starts.values()} - events)),
    )


def _answer(trace: Trace, goal: Goal, firsts: Sequence[Known], limits: _Limits) -> _Answer:
    """Return the best plan found, beginning with the best of some, and the best bound."""
    first = min(firsts, key=lambda known: _value(trace, known))
    known, work = improved(trace, goal, first, limits.pieces, np.random.default_rng(limits.seed))
    if _value(trace, first) < _value(trace, known):
        known = first
    statuses: Counter[str] = Counter()
    bound = lower_bound(trace, goal, known.starts)
    if trace.job_count > (MOST_JOBS_OF_A_RATIO if goal.ratio else MOST_JOBS):
        return _Answer(known, bound, work, statuses)
    if goal.ratio:
        least = solve_ratio(trace, goal, known.starts, limits.effort)
        statuses, proved = least.statuses, least.bound
        solved = _carried_out(trace, least.starts)
        # Jobs may start late on purpose: none is shifted to before where the solver has it.
        late = trace._replace(content=trace.content._replace(releases=least.starts))
        as_found = plan_in(late, np.argsort(least.starts, kind="stable"), solved.method)
        solved = min(solved, as_found, key=lambda known: _value(trace, known))
    else:
        exact = solve(trace, goal.costs, known.starts, limits.effort)
        statuses = exact.statuses
        solved = _carried_out(trace, exact.starts)
        proved = goal.value(exact.bound)
    if _value(trace, solved) < _value(trace, known):
        known = solved
    if proved > bound.value:
        bound = Bound(proved, "the solver")
    return _Answer(known, bound, work, statuses)


def _carried_out(trace: Trace, starts: IntArray) -> Known:
    """Return a plan that takes the jobs in the order of the solver's starts, on nodes."""
    order = np.argsort(starts, kind="stable")
    return shifted(trace, plan_in(trace, order, "the solver"))


def _value(trace: Trace, known: Known) -> float:
    value = trace.measure(known.starts)
    return float("inf") if value is None else value


def _weights(trace: Trace, goal: Goal) -> FloatArray:
    """Return what a second of waiting costs each job at its submission, or 1 where that is none."""
    if goal.ratio or not goal.costs.weights.any():
        return np.ones(trace.job_count)
    return np.asarray(goal.costs.weights.sum(axis=0))
