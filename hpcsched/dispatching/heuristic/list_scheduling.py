"""List scheduling: Algorithm 1 of Goponenko et al. (DEBS 2024, section 2.4)."""

from typing import Literal

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.heuristic.core_rounds import CoreRounds
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.problem import DispatchingProblem

Option = Literal["strict", "greedy", "backfill"]
"""What happens at a job that cannot start: stop, skip it, or reserve room for it."""

OPTIONS: dict[Option, int] = {
    "strict": codes.STRICT,
    "greedy": codes.GREEDY,
    "backfill": codes.BACKFILL,
}
"""The rules of the core by what happens at a job that cannot start."""


class ListScheduler:
    """Considers the queue in an order, and starts what can start.

    With the option `backfill` every job that cannot start now gets a reservation at the earliest
    time that it can, beside all reservations made before it; all are planned anew in every round.
    After `depth` reservations no more are made, as in Slurm: jobs further down start if they fit
    beside those reservations, and are skipped otherwise.
    """

    def __init__(
        self, order: QueueOrder, option: Option, allocator: Allocator, depth: int | None = None
    ) -> None:
        self.order = order
        self.option = option
        self.allocator = allocator
        self.depth = depth
        self._rounds = CoreRounds(OPTIONS[option], allocator, depth=depth)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self._rounds.decide(problem, self.order)
