"""Plan execution: from a plan to the decision of a round, with nodes and reasons for its jobs.

A plan is of the first jobs by priority. Goponenko et al. (DEBS 2024, section 5.5) suggest to switch
to another approach for the rest of the queue; here it is the greedy one, beside the plan's starts,
as list schedulers do once all reservations are given out (`Filling`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hpcsched._core import Rule
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision, Reason, ReasonKind, Start
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_calls import ProblemState, Workspace, open_workspace
from hpcsched.system.space import NodeAllocation

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
        pairs = zip(self.selection.jobs, self.plan.starts.tolist(), strict=True)
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
    executed
        The plan behind it; None where there was nothing to plan.
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
) -> tuple[Reason, ...]:
    """Return a reason for each queued job, in order of arrival.

    A job that starts without being planned passes the first planned job that waits. Whether there
    is room for a job is asked about the free resources before anything starts, for each job by
    itself. A job without room has the reason `no_room`, planned or not.
    `planned` has planned starts in seconds by job number, the first by priority first.
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
            reason = Reason(name, "no_room", detail=NO_NODES)
        elif not workspace.fits(job):
            reason = Reason(name, "no_room", time=time, detail=workspace.short_of(job))
        elif time is None:
            reason = Reason(name, "not_planned")
        else:
            reason = Reason(name, "solver_postponed", time=time)
        reasons.append(reason)
    return tuple(reasons)


def starts_now(
    problem: DispatchingProblem, executed: ExecutedPlan, allocator: Allocator, *, anew: bool = False
) -> tuple[Start, ...]:
    """Return the starts of the jobs that a plan starts now, on the plan's nodes.

    Parameters
    ----------
    allocator
        Places the jobs where all slots are alike and the plan has no nodes.
    anew
        Let the allocator place all jobs, in order of priority; jobs without room wait.
    """
    selection, plan = executed
    now = (plan.starts == 0).nonzero()[0].tolist()
    if anew or selection.nodes is None:
        workspace = open_workspace(problem, allocator)
        jobs = (selection.jobs[i] for i in now)
        if anew:
            jobs = (job for job in jobs if workspace.fits(job))
        return place_all(jobs, workspace)
    return tuple(
        Start(selection.jobs[i].job_id, selection.allocation(i, plan.placed[i])) for i in now
    )


def allocation_of(executed: ExecutedPlan, job: int) -> NodeAllocation | None:
    """Return the nodes of a planned job, by its index; None where the plan only counts units."""
    selection, plan = executed
    if selection.nodes is None or plan.placed[job].sum() < selection.data.units[job]:
        return None
    return selection.allocation(job, plan.placed[job])


def place_all(jobs: Iterable[WaitingJob], workspace: Workspace) -> tuple[Start, ...]:
    """Return the starts of jobs that all fit together now, placed one after another."""
    return tuple(Start(job.job_id, workspace.place(job)) for job in jobs)


def start_first(
    problem: DispatchingProblem, by_priority: Iterable[WaitingJob], allocator: Allocator
) -> tuple[Start, ...]:
    """Return the start of the first job by priority that fits now; empty if none may start.

    It is used where nothing runs and a plan starts nothing, so that no job waits for ever.
    """
    workspace = open_workspace(problem, allocator)
    job = next((job for job in by_priority if workspace.fits(job)), None)
    return () if job is None else (Start(job.job_id, workspace.place(job)),)


class Filling:
    """Starts jobs that are not planned where they delay no job that is."""

    def __init__(self, allocator: Allocator) -> None:
        self._filled = ProblemState(Rule.BESIDE_PLAN, allocator)

    def starts_beside(
        self,
        problem: DispatchingProblem,
        by_priority: Sequence[WaitingJob],
        executed: ExecutedPlan,
        starts: Sequence[Start],
    ) -> tuple[Start, ...]:
        """Return the starts of unplanned jobs that delay no planned job.

        Each is considered once, by priority, and started if it fits beside all others until its
        predicted end.
        """
        selection, plan = executed
        if len(selection.jobs) == len(by_priority):
            return ()
        planned = executed.start_times(problem.now)
        beyond = [job for job in by_priority if job.job_id not in planned]
        if not beyond:
            return ()
        job_of = {job.job_id: job for job in selection.jobs}
        order = [job_of[start.job_id] for start in starts]
        places: dict[int, NodeAllocation] = {start.job_id: start.allocation for start in starts}
        started = set(places)
        # Stable, so that jobs of one start keep their order of priority.
        for i in plan.starts.argsort(kind="stable").tolist():
            job = selection.jobs[i]
            if job.job_id in started:
                continue
            order.append(job)
            where = allocation_of(executed, i)
            if where is not None:
                places[job.job_id] = where
        order += beyond
        filled = self._filled
        filled.fill(problem, order)
        filled.set_reservations(planned, places)
        filled.state.start_beside_plan(filled.asked, len(starts), len(planned))
        return filled.starts()[len(starts) :]
