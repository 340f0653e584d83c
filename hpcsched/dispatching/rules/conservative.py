"""Conservative backfilling (Mu'alem and Feitelson 2001)."""

from typing import Literal, Self

from hpcsched import _core
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.carried_reservations import CarriedReservations
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.dispatching.rules.rule_params import ConservativeParams
from hpcsched.registration import builtin

Compression = Literal["arrival", "reservation"]
"""Order in which compression moves reservations to earlier times."""

COMPRESSIONS: dict[Compression, _core.Compression] = {
    "arrival": _core.Compression.BY_ARRIVAL,
    "reservation": _core.Compression.BY_RESERVATION,
}
"""The core's orders of compression."""


@builtin(
    "dispatcher",
    "conservative",
    ConservativeParams,
    summary="a reservation for every job from its submission on, never moved later",
)
class Conservative:
    """Dispatcher that promises every job a start at its submission, and keeps its promises.

    Each job gets the earliest reservation that respects all earlier ones, and keeps it from round
    to round, with its nodes where nodes matter. A job starts as soon as its start moves no
    reservation. When jobs have ended early, nodes are back, or reservations were lost, the schedule
    is compressed before new jobs get reservations: each reservation in turn is moved to the
    earliest time that respects the others, never to a later one. `compression` selects the order of
    turns: arrival, or start of the reservations.

    If jobs outlive their predictions, or start late because decisions take time, some promises
    cannot be kept. Reservations are then moved later, in order of their starts and no more than
    needed, and the schedule is compressed. The reasons of a round state the first promise of such a
    job.

    Source: A. W. Mu'alem and D. G. Feitelson, Utilization, predictability, workloads, and user
    runtime estimates in scheduling the IBM SP2 with backfilling, IEEE Transactions on Parallel and
    Distributed Systems 12(6), 2001.
    """

    @classmethod
    def build(cls, params: ConservativeParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
        return cls(context.make("allocator", params.allocator), params.compression)

    def __init__(self, allocator: Allocator, compression: Compression = "arrival") -> None:
        self.allocator = allocator
        self.compression = compression
        self._carried = CarriedReservations()
        self.rounds = CoreRounds(
            _core.Rule.CONSERVATIVE,
            allocator,
            carried=self._carried,
            compression=COMPRESSIONS[compression],
        )

    @property
    def promised(self) -> dict[int, int]:
        """First promised start of each waiting job, in seconds, by job number."""
        return self._carried.promised

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self.rounds.decide(problem, ArrivalOrder())
