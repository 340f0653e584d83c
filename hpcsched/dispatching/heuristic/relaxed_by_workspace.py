"""Relaxed backfilling over a workspace, for problems that the core does not know."""

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.heuristic.easy_by_workspace import EasyByWorkspace
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.heuristic.workspace import Shadow, Workspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob


class RelaxedByWorkspace(EasyByWorkspace):
    """EASY, except that jobs behind the head job may delay it; see `relaxed`."""

    _always_reserves = True  # or what is promised would depend on what else waits

    def __init__(
        self,
        allocator: Allocator,
        relaxation: float,
        order: QueueOrder | None,
        backfill_order: QueueOrder | None,
        promises: dict[int, int],
    ) -> None:
        super().__init__(allocator, order, backfill_order)
        self.relaxation = relaxation
        self._promises = promises

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
