"""Jobs beyond the plan on systems with pools: see `filling`."""

from collections.abc import Sequence

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.node_level import NodeWorkspace
from hpcsched.dispatching.heuristic.node_profile import NodeProfile
from hpcsched.dispatching.planning.carrying_out import allocation_of
from hpcsched.dispatching.planning.explaining import CarriedOut
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import NodeAllocation


def starts_in_workspace(
    problem: DispatchingProblem,
    by_priority: Sequence[WaitingJob],
    carried_out: CarriedOut,
    starts: Sequence[Start],
    allocator: Allocator,
) -> tuple[Start, ...]:
    """Return the starts of jobs that are not planned and delay no job that is.

    Each is considered once, by priority, and started if it fits beside all others until its
    predicted end.

    Parameters
    ----------
    problem
        The dispatching problem.
    by_priority
        All queued jobs, the first by priority first.
    carried_out
        The plan.
    starts
        What it starts now.
    allocator
        Places the jobs.
    """
    if len(carried_out.selection.jobs) == len(by_priority):
        return ()
    planned = carried_out.start_times(problem.now)
    beyond = [job for job in by_priority if job.job_id not in planned]
    if not beyond:
        return ()
    workspace = NodeWorkspace(problem, allocator)
    waiting = {job.job_id: job for job in problem.queue}
    for start in starts:
        job = waiting[start.job_id]
        assert isinstance(start.allocation, NodeAllocation)
        workspace.place_on(job, start.allocation)
    beyond = workspace.fitting(beyond)
    if not beyond:
        return ()
    profile = workspace.profile()
    _reserve(profile, carried_out, planned, {start.job_id for start in starts})
    found = ((job, profile.start_now(job)) for job in beyond)
    return tuple(Start(job.job_id, where) for job, where in found if where is not None)


def _reserve(
    profile: NodeProfile, carried_out: CarriedOut, planned: dict[int, int], started: set[int]
) -> None:
    """Reserve room for what is to start later, where the plan has it or as soon as there is room.

    Plans that see nodes as one pool may start jobs before there is room for them.
    """
    selection, plan = carried_out
    for i in plan.starts.argsort(kind="stable").tolist():
        job = selection.jobs[i]
        if job.job_id in started:
            continue
        start = planned[job.job_id]
        if profile.hold(job, Held(start, allocation_of(carried_out, i))):
            continue
        try:
            profile.reserve(job, start)
        except ValueError:  # its nodes are out of service now: nobody can start there
            continue
