"""From a plan to reasons: why each queued job starts now, or waits."""

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
"""Of a job that a plan starts now and that does not start: the plan counts, nodes have edges."""
NOTHING_RUNS = "nothing runs and the plan starts nothing, so the first job starts"
"""Of a job that starts although the plan has it wait."""


class ExecutedPlan(NamedTuple):
    """The plan that a round carries out, and the selection that it is about."""

    selection: Selection
    plan: Plan

    def start_times(self, now: int) -> dict[int, int]:
        """Return when each planned job is to start, in seconds, by job number."""
        seconds = self.selection.starts_in_seconds(self.plan.starts).tolist()
        pairs = zip(self.selection.jobs, seconds, strict=True)
        return {job.job_id: now + start for job, start in pairs}


def with_reasons(
    problem: DispatchingProblem,
    decision: Decision,
    executed: ExecutedPlan | None,
    allocator: Allocator,
) -> Decision:
    """Return the decision, with reasons if the problem wants them.

    `executed` is the plan behind the decision; None where there was nothing to plan.
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

    `planned` says when jobs are to start, in seconds, by job number, the first by priority first. A
    job that starts without being planned passes the first of them that waits. Whether there is room
    for a job is asked about what is free before anything starts, for each job by itself. A job
    without room has the reason `no_room`, whether or not it is planned. `left_over` has the detail
    of the reason of a job that is planned to start now and does not, and the kind of it if there is
    room.
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
