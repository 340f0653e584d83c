"""List scheduling: Algorithm 1 of Goponenko et al. (DEBS 2024, section 2.4)."""

from collections.abc import Container, Sequence
from typing import Literal, Self

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.carried_reservations import CarriedPromises
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.dispatching.rules.rule_params import ListParams, PrbParams
from hpcsched.registration import builtin

Option = Literal["strict", "greedy", "backfill", "committed", "committed-backfill"]
"""What happens at a job that cannot start: stop, skip it, or reserve room for it; or commit to it,
so that nothing starts before it does, or only what ends before it is expected to.
"""

OPTIONS: dict[Option, int] = {
    "strict": codes.STRICT,
    "greedy": codes.GREEDY,
    "backfill": codes.BACKFILL,
    "committed": codes.COMMITTED,
    "committed-backfill": codes.COMMITTED_BACKFILL,
}
"""The rules of the core by what happens at a job that cannot start."""


class ChosenFirst:
    """Puts jobs that have been chosen before all others, and sorts both by another order."""

    def __init__(self, order: QueueOrder, chosen: Container[int]) -> None:
        self._order = order
        self._chosen = chosen

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue, the chosen jobs first."""
        return sorted(self._order.sort(problem), key=lambda job: job.job_id not in self._chosen)


@builtin(
    "dispatcher",
    "list",
    ListParams,
    summary="list scheduling: strict, greedy, committed, or with a reservation for every job",
)
class ListScheduler:
    """Considers the queue in an order, and starts what can start.

    With the option `backfill` every job that cannot start now gets a reservation at the earliest
    time that it can, beside all reservations made before it; all are planned anew in every round.
    After `depth` reservations no more are made, as in Slurm: jobs further down start if they fit
    beside those reservations, and are skipped otherwise.

    With `committed` and `committed-backfill` the first job that does not fit is chosen: it starts
    next, whatever arrives before it does. The others wait until then; with `committed-backfill`
    those that fit are started in order of arrival if they are predicted to end before the start
    that the chosen job expected when it was chosen. A chosen job that is held back gives way. Once
    it is not any more it is chosen again, the first in order if there are several.

    Source of these two: the simulator of D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie,
    RLScheduler: an automated HPC batch job scheduler using reinforcement learning, SC 2020.
    """

    @classmethod
    def build(cls, params: ListParams, context: Context) -> Self:
        """Return the dispatcher with the chosen order and allocator."""
        order = context.make("queue_order", params.order)
        allocator = context.make("allocator", params.allocator)
        return cls(order, params.option, allocator, params.depth)

    def __init__(
        self, order: QueueOrder, option: Option, allocator: Allocator, depth: int | None = None
    ) -> None:
        self.order = order
        self.option = option
        self.allocator = allocator
        self.depth = depth
        promised: dict[int, int] = {}
        commits = option in ("committed", "committed-backfill")
        self._order = ChosenFirst(order, promised) if commits else order
        self._rounds = CoreRounds(
            OPTIONS[option],
            allocator,
            depth=depth,
            own_backfill_order=self.backfill_order is not None,
            carried=CarriedPromises(promised) if commits else None,
        )

    @property
    def backfill_order(self) -> QueueOrder | None:
        """The order in which jobs behind a chosen one are tried; None where it is no other."""
        return ArrivalOrder() if self.option == "committed-backfill" else None

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self._rounds.decide(problem, self._order, self.backfill_order)


@builtin(
    "dispatcher",
    "prb",
    PrbParams,
    summary="priority rule: jobs by wait over expected wait, those without room skipped",
)
def make_prb(params: PrbParams, context: Context) -> ListScheduler:
    """Return `prb`: list scheduling by expected wait that skips what finds no room."""
    waits = params.expected_wait
    order = ExpectedWaitOrder(1) if waits is None else ExpectedWaitOrder.build(waits, context)
    return ListScheduler(order, "greedy", context.make("allocator", params.allocator))
