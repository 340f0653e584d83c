"""Relaxed backfilling (Ward, Mahood and West 2002)."""

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.heuristic.workspace import Shadow, Workspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob


class Relaxed(Easy):
    """EASY, except that jobs behind the head job may delay it, by so much of its expected wait.

    The head job's promise is the earliest shadow time that it has had. Its expected wait lasts from
    its submission to its promise; it may be delayed past the promise by at most `relaxation` (the
    paper's ω) times that. So the reservation that later jobs must keep clear of lies that much
    after the promise, or at the present shadow time if this is later, as it may be where jobs
    outlive their predictions. The promise is kept from round to round and never becomes later, so
    that small delays do not add up. With a relaxation of 0 this is EASY.

    Source: W. A. Ward, C. L. Mahood and J. E. West, Scheduling jobs on parallel systems using a
    relaxed backfill strategy, JSSPP 2002. What the delay is measured from is our reading.
    """

    _always_reserves = True  # or what is promised would depend on what else waits

    def __init__(
        self,
        allocator: Allocator,
        relaxation: float,
        order: QueueOrder | None = None,
        backfill_order: QueueOrder | None = None,
    ) -> None:
        super().__init__(allocator, order, backfill_order)
        self.relaxation = relaxation
        self._promises: dict[int, int] = {}

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        decision = super().dispatch(problem)
        for start in decision.starts:
            self._promises.pop(start.job_id, None)
        return decision

    def _reserve(
        self, head: WaitingJob, workspace: Workspace, problem: DispatchingProblem
    ) -> Shadow:
        """Return the head job's reservation, as late as may be."""
        shadow = workspace.shadow(head)
        promise = min(shadow.time, self._promises.get(head.job_id, shadow.time))
        self._promises[head.job_id] = promise
        latest = promise + int(self.relaxation * (promise - head.submit_time))
        if latest > shadow.time:
            shadow.postpone(latest)
        return shadow
