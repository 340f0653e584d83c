"""List scheduling: Algorithm 1 of Goponenko et al. (DEBS 2024, section 2.4)."""

from collections.abc import Container, Sequence
from typing import Literal, Self

from hpcsched._core import NEVER, Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.carried_reservations import CarriedPromises
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder, sorted_queue
from hpcsched.dispatching.rules.rule_params import ListParams, PrbParams
from hpcsched.registration import builtin

Option = Literal["strict", "greedy", "backfill", "committed", "committed-backfill"]
"""Treatment of a job that cannot start.

`strict` stops the round, `greedy` skips the job, `backfill` reserves room for it. `committed`
commits to it: nothing starts before it does, or, with `committed-backfill`, only jobs that end
before its expected start.
"""

OPTIONS: dict[Option, Rule] = {
    "strict": Rule.STRICT,
    "greedy": Rule.GREEDY,
    "backfill": Rule.BACKFILL,
    "committed": Rule.COMMITTED,
    "committed-backfill": Rule.COMMITTED_BACKFILL,
}
"""Rules of the core by option."""


class ChosenFirst:
    """Queue order that puts chosen jobs before all others, and sorts both by another order."""

    def __init__(self, order: QueueOrder, chosen: Container[int]) -> None:
        self._order = order
        self._chosen = chosen

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue, the chosen jobs first."""
        # False sorts before True, and the sort is stable.
        queue = sorted_queue(self._order, problem)
        return sorted(queue, key=lambda job: job.job_id not in self._chosen)


@builtin(
    "dispatcher",
    "list",
    ListParams,
    summary="list scheduling: strict, greedy, committed, or with a reservation for every job",
)
class ListScheduler:
    """List scheduling: considers the queue in an order, and starts the jobs that can start.

    With the option `backfill` every job that cannot start now gets a reservation at the earliest
    possible time beside all reservations made before it; all are planned anew in every round. After
    `depth` reservations no more are made, as in Slurm: jobs further down start if they fit beside
    those reservations, and are skipped otherwise.

    With `committed` and `committed-backfill` the first job that does not fit is chosen: it starts
    next, even if jobs that precede it in the order arrive before it does. The others wait until
    then; with `committed-backfill`, those that fit are started in order of arrival if they are
    predicted to end before the start that the chosen job expected when it was chosen. A chosen job
    that is held back gives way. Once it is no longer held back it is chosen again, the first in
    order if there are several.

    Source of these two: the simulator of D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie,
    RLScheduler: an automated HPC batch job scheduler using reinforcement learning, SC 2020.

    Parameters
    ----------
    depth
        Maximum number of reservations per round with `backfill`; None: no maximum.
    """

    @classmethod
    def build(cls, params: ListParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
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
        # Shared by the order and the carried state: a promised job is a chosen one.
        promised: dict[int, int] = {}
        commits = option in ("committed", "committed-backfill")
        self._order = ChosenFirst(order, promised) if commits else order
        self.rounds = CoreRounds(
            OPTIONS[option],
            allocator,
            carried=CarriedPromises(promised) if commits else None,
            depth=-1 if depth is None else min(depth, NEVER),
            own_backfill_order=self.backfill_order is not None,
        )

    @property
    def backfill_order(self) -> QueueOrder | None:
        """Order of the jobs behind a chosen one; None if it is the same."""
        return ArrivalOrder() if self.option == "committed-backfill" else None

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self.rounds.decide(problem, self._order, self.backfill_order)


@builtin(
    "dispatcher",
    "prb",
    PrbParams,
    summary="priority rule: jobs by wait over expected wait, those without room skipped",
)
def make_prb(params: PrbParams, context: Context) -> ListScheduler:
    """Create `prb`: greedy list scheduling by expected wait."""
    waits = params.expected_wait
    order = ExpectedWaitOrder(1) if waits is None else ExpectedWaitOrder.build(waits, context)
    return ListScheduler(order, "greedy", context.make("allocator", params.allocator))
