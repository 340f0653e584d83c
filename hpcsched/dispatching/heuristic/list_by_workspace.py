"""List scheduling over a workspace, for problems that the core does not know."""

from collections.abc import Sequence
from typing import Literal

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.heuristic.round_reasons import RoundReasons
from hpcsched.dispatching.heuristic.workspace import Profile, Workspace, open_workspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.reasons import Reason

Option = Literal["strict", "greedy", "backfill"]
"""What happens at a job that cannot start: stop, skip it, or reserve room for it."""


def dispatch_list(
    problem: DispatchingProblem,
    order_: QueueOrder,
    option: Option,
    allocator: Allocator,
    depth: int | None,
) -> Decision:
    """Return the jobs to start now; see `ListScheduler`."""
    workspace = open_workspace(problem, allocator)
    if not problem.explain and not workspace.fitting(problem.queue):
        return NOTHING
    order = order_.sort(problem)
    if option != "backfill":
        starts = _start_in_order(order, workspace, stop=option == "strict")
        reasons = _reasons(order, starts, option, workspace) if problem.explain else ()
        return Decision(tuple(starts), reasons=reasons)
    if not problem.explain:
        return Decision(tuple(_backfill(order, workspace, problem.now, depth)))
    noted = RoundReasons(workspace)
    starts = _plan_all(order, workspace, depth, noted)
    return Decision(tuple(starts), reasons=tuple(noted.noted))


def _start_in_order(
    order: Sequence[WaitingJob], workspace: Workspace, *, stop: bool
) -> list[Start]:
    """Start every job that fits, up to the first that does not if `stop` says so."""
    starts = []
    for job in order:
        if workspace.fits(job):
            starts.append(Start(job.job_id, workspace.place(job)))
        elif stop:
            break
    return starts


def _reasons(
    order: Sequence[WaitingJob], starts: Sequence[Start], option: Option, workspace: Workspace
) -> tuple[Reason, ...]:
    """Return the reasons of a round without reservations."""
    started = {start.job_id for start in starts}
    reasons = RoundReasons(workspace)
    for job in order:
        if job.job_id in started:
            reasons.starts(job)
        elif option == "strict" and reasons.head is not None:
            reasons.waits(job, "behind", other=reasons.head)
        else:
            reasons.waits(job, "no_room")
    return tuple(reasons.noted)


def _plan_all(
    order: Sequence[WaitingJob], workspace: Workspace, depth: int | None, reasons: RoundReasons
) -> list[Start]:
    """Start or reserve, job by job to the last, and note why.

    It starts what `_backfill` starts, which leaves out what cannot change that any more.
    """
    starts: list[Start] = []
    profile = None
    reservations = 0
    for job in order:
        if profile is None and not workspace.fits(job):
            profile = workspace.profile()
        allocation = workspace.place(job) if profile is None else profile.start_now(job)
        if allocation is not None:
            starts.append(Start(job.job_id, allocation))
            reasons.starts(job)
            continue
        assert profile is not None
        within = depth is None or reservations < depth
        other = profile.first_conflict(job) if workspace.fits(job) else None
        time = profile.reserve(job) if within else None
        reservations += within
        if other is not None:
            reasons.waits(job, "reserved_for", other=other, time=time)
        else:
            reasons.waits(job, "no_room" if within else "beyond_depth", time=time)
    return starts


def _backfill(
    order: Sequence[WaitingJob], workspace: Workspace, now: int, depth: int | None
) -> list[Start]:
    """Start or reserve, job by job, as long as a job that could start now is still to come.

    Reservations bind only within a round, so they matter only to jobs that could start now. Which
    those are changes when a job starts, or gets a reservation that begins before they would end.
    """
    starts: list[Start] = []
    candidates = workspace.fitting(order)
    profile = None
    reservations = 0
    for job in order:
        if not candidates:
            break
        if job is candidates[-1]:
            candidates.pop()
        if profile is None:
            if workspace.fits(job):
                starts.append(Start(job.job_id, workspace.place(job)))
                _drop(candidates, workspace)
                continue
            profile = workspace.profile()
        allocation = profile.start_now(job)
        if allocation is not None:
            starts.append(Start(job.job_id, allocation))
            _drop(candidates, profile)
        elif depth is None or reservations < depth:
            start = profile.reserve(job)
            reservations += 1
            if candidates and start - now < candidates[-1].predicted_run_time:
                _drop(candidates, profile)
    return starts


def _drop(candidates: list[WaitingJob], room: Workspace | Profile) -> None:
    """Drop the last candidates as long as they do not fit any more."""
    while candidates and not room.fits(candidates[-1]):
        candidates.pop()
