"""Plan execution: from a plan to the decision of a round, with nodes for each job that starts."""

from collections.abc import Iterable

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.planning.explaining import ExecutedPlan
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.workspace import Workspace, open_workspace
from hpcsched.system.allocation import NodeAllocation


def starts_now(
    problem: DispatchingProblem,
    executed: ExecutedPlan,
    allocator: Allocator,
    *,
    anew: bool = False,
) -> tuple[Start, ...]:
    """Return the starts of the jobs that a plan starts now, on the plan's nodes.

    Parameters
    ----------
    problem
        The dispatching problem of the round.
    executed
        The plan to carry out, with its selection.
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
