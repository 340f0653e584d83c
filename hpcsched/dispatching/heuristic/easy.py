"""EASY backfilling (Lifka 1995; Feitelson and Weil 1998)."""

from collections.abc import Iterator, Sequence

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.heuristic.workspace import Workspace, open_workspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob


class Easy:
    """Starts jobs in order of arrival; behind the first that must wait, those that don't delay it.

    The first job that does not fit, the head job, gets the one reservation of the round, at its
    shadow time: the earliest instant at which it fits if running jobs end as predicted, all ends of
    that instant counted. Any later job that fits now is started if it is predicted to end by then,
    or if the head job still fits at the shadow time beside it.
    """

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        workspace = open_workspace(problem, self._allocator)
        candidates = workspace.fitting(problem.queue)
        if not candidates:
            return NOTHING
        queue = iter(problem.queue)
        starts: list[Start] = []
        for job in queue:
            if workspace.fits(job):
                starts.append(Start(job.job_id, workspace.place(job)))
            else:
                if starts:
                    candidates = workspace.fitting(queue)
                starts += _backfill(job, workspace, candidates)
                break
        return Decision(tuple(starts))


def _backfill(
    head: WaitingJob, workspace: Workspace, candidates: Sequence[WaitingJob]
) -> Iterator[Start]:
    """Start those of the jobs behind the head job that do not delay it."""
    if candidates:
        shadow = workspace.shadow(head)
        for job in candidates:
            allocation = shadow.backfill(job)
            if allocation is not None:
                yield Start(job.job_id, allocation)
