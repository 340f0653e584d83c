"""Reasons of planned rounds: why each queued job starts now, or waits."""

from collections.abc import Mapping
from typing import NamedTuple

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.decision_reasons import Reason, ReasonKind
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.workspace import open_workspace

NO_NODES = "it was to start now, and no nodes were found for it"
"""Reason of a job that a plan starts now and that found no nodes: the plan only counted units."""
NOTHING_RUNS = "nothing runs and the plan starts nothing, so the first job starts"
"""Reason of a job that starts although the plan has it wait."""


class ExecutedPlan(NamedTuple):
    """The plan that a round carries out, with the selection of jobs and nodes that it is about."""

    selection: Selection
    plan: Plan

    def start_times(self, now: int) -> dict[int, int]:
        """Return the planned starts in seconds, by job number; `now` is the round's time."""
        seconds = self.selection.starts_in_seconds(self.plan.starts).tolist()
        pairs = zip(self.selection.jobs, seconds, strict=True)
        return {job.job_id: now + start for job, start in pairs}


def with_reasons(
    problem: DispatchingProblem,
    decision: Decision,
    executed: ExecutedPlan | None,
    allocator: Allocator,
) -> Decision:
    """Return the decision, with reasons if the problem asks for them.

    Parameters
    ----------
    problem
        The dispatching problem of the round.
    decision
        The decision to explain.
    executed
        The plan behind it; None where there was nothing to plan.
    allocator
        Says whether a job would find room.
    """
    if not problem.explain:
        return decision
    planned = {} if executed is None else executed.start_times(problem.now)
    return decision._replace(reasons=planned_reasons(problem, decision, planned, allocator))


def planned_reasons(
    problem: DispatchingProblem,
    decision: Decision,
    planned: Mapping[int, int],
    allocator: Allocator,
    left_over: tuple[ReasonKind, str] = ("no_room", NO_NODES),
) -> tuple[Reason, ...]:
    """Return a reason for each queued job, in order of arrival.

    A job that starts without being planned passes the first planned job that waits. Whether there
    is room for a job is asked about the free resources before anything starts, for each job by
    itself. A job without room has the reason `no_room`, planned or not.

    Parameters
    ----------
    problem
        The dispatching problem of the round.
    decision
        The decision to explain.
    planned
        Planned start of each job in seconds, by job number, the first by priority first.
    allocator
        Says whether a job would find room.
    left_over
        Kind and detail of the reason of a job that is planned to start now and does not, though
        there is room. Without room the kind is `no_room`.
    """
    now, started = problem.now, {start.job_id for start in decision.starts}
    workspace = open_workspace(problem, allocator)
    all_start = len(started) == len(problem.queue)
    reasons = []
    kind: ReasonKind
    for job in problem.queue:
        name, time = job.job_id, planned.get(job.job_id)
        if name in started:
            if time is None and (problem.running or len(started) > 1):
                # `planned` is in order of priority, so that this is the first that waits.
                passed = next((other for other in planned if other not in started), None)
                kind = "in_order" if passed is None else "backfilled"
                reason = Reason(name, kind, job=passed)
            elif time != now:
                reason = Reason(name, "in_order", detail=NOTHING_RUNS)
            else:
                reason = (
                    Reason(name, "in_order") if all_start else Reason(name, "planned", time=now)
                )
        elif time == now:
            kind, detail = left_over
            reason = Reason(name, kind if workspace.fits(job) else "no_room", detail=detail)
        elif not workspace.fits(job):
            reason = Reason(name, "no_room", time=time, detail=workspace.short_of(job))
        elif time is None:
            reason = Reason(name, "not_planned")
        else:
            reason = Reason(name, "solver_postponed", time=time)
        reasons.append(reason)
    return tuple(reasons)
