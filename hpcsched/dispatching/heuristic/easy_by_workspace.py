"""EASY backfilling over a workspace, for problems that the core does not know: see `easy`."""

from collections.abc import Iterator, Sequence

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.heuristic.orders import ArrivalOrder, QueueOrder
from hpcsched.dispatching.heuristic.round_reasons import RoundReasons
from hpcsched.dispatching.heuristic.workspace import Shadow, Workspace, open_workspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.reasons import Reason


class EasyByWorkspace:
    """Starts jobs in an order; behind the first that must wait, those that don't delay it."""

    _always_reserves = False
    """Whether the head job's reservation is wanted even where nothing could pass it."""

    def __init__(
        self,
        allocator: Allocator,
        order: QueueOrder | None = None,
        backfill_order: QueueOrder | None = None,
    ) -> None:
        self.allocator = allocator
        self.order = ArrivalOrder() if order is None else order
        self.backfill_order = backfill_order

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        workspace = open_workspace(problem, self.allocator)
        candidates = workspace.fitting(problem.queue)
        reserves = problem.explain or self._always_reserves
        if not candidates and not reserves:
            return NOTHING
        order = self.order.sort(problem)
        if order is not problem.queue:
            candidates = workspace.fitting(order)
        starts: list[Start] = []
        behind = None
        for place, job in enumerate(order):
            if not workspace.fits(job):
                if starts:
                    candidates = workspace.fitting(order[place + 1 :])
                if candidates or reserves:
                    behind = _Behind(self._reserve(job, workspace, problem), workspace)
                    starts += behind.backfill(self._in_turn(candidates, problem))
                break
            starts.append(Start(job.job_id, workspace.place(job)))
        reasons = _reasons(order, starts, behind, workspace) if problem.explain else ()
        return Decision(tuple(starts), reasons=reasons)

    def _reserve(
        self, head: WaitingJob, workspace: Workspace, _problem: DispatchingProblem
    ) -> Shadow:
        """Return the head job's reservation."""
        return workspace.shadow(head)

    def _in_turn(
        self, candidates: Sequence[WaitingJob], problem: DispatchingProblem
    ) -> Sequence[WaitingJob]:
        """Return the jobs behind the head job in the order in which they are tried."""
        if self.backfill_order is None:
            return candidates
        numbers = {job.job_id for job in candidates}
        return [job for job in self.backfill_order.sort(problem) if job.job_id in numbers]


class _Behind:
    """What happens behind a head job; `refused` are the jobs that had room and would delay it."""

    def __init__(self, shadow: Shadow, workspace: Workspace) -> None:
        self.shadow = shadow
        self.refused: set[int] = set()
        self._workspace = workspace

    def backfill(self, candidates: Sequence[WaitingJob]) -> Iterator[Start]:
        """Start those of the jobs that do not delay the head job."""
        for job in candidates:
            allocation = self.shadow.backfill(job)
            if allocation is not None:
                yield Start(job.job_id, allocation)
            elif self._workspace.fits(job):
                self.refused.add(job.job_id)


def _reasons(
    order: Sequence[WaitingJob],
    starts: Sequence[Start],
    behind: _Behind | None,
    workspace: Workspace,
) -> tuple[Reason, ...]:
    """Return the reasons of a round; `behind` is None where all jobs start."""
    started = {start.job_id for start in starts}
    reasons = RoundReasons(workspace)
    for job in order:
        if job.job_id in started:
            reasons.starts(job)
        elif behind is not None and reasons.head is None:
            reasons.waits(job, "no_room", time=behind.shadow.time)
        elif behind is not None and job.job_id in behind.refused:
            reasons.waits(job, "reserved_for", other=reasons.head)
        else:
            reasons.waits(job, "no_room")
    return tuple(reasons.noted)
