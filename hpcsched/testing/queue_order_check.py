"""Check of the protocol of queue orders, on sample workloads."""

from collections.abc import Callable, Iterable, Sequence

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.orders import QueueOrder, order_fault
from hpcsched.plugins.product_check import product_fault
from hpcsched.testing.dispatcher import expect_equal
from hpcsched.testing.replaying import replay
from hpcsched.testing.sample_replays import SEEDS, backfilling, expect, noted, told, workloads


class _Asked:
    """Queue order that asks another, and checks its answers."""

    def __init__(self, order: QueueOrder) -> None:
        self._order = order

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return its order, checked."""
        whose = f"round {problem.round}"
        queue = self._order.sort(problem)
        expect(order_fault(problem, queue), whose)
        first = [job.job_id for job in queue]
        again = [job.job_id for job in self._order.sort(problem)]
        if first != again:
            raise AssertionError(f"{whose}: jobs {first}, and {again} when asked again")
        return queue


def check_queue_order(make: Callable[[], QueueOrder], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads in orders, and check every sorted queue.

    Each queued job must be there once; a queue must be sorted the same way when it is sorted
    again; and a replay must be the same when it is repeated.

    Raises
    ------
    AssertionError
        If an order is wrong; a note names the workload.
    """
    expect(product_fault(make(), "queue_order"))
    for workload, where in workloads(seeds):
        with noted(where):
            replays = []
            for _ in range(2):
                order = make()
                dispatcher = backfilling(_Asked(order))
                observers = told(order)
                replays.append(
                    replay(dispatcher, workload.jobs, workload.system, observers=observers)
                )
            first, again = replays
            expect_equal(first, again, "the second time")
