"""Conservative backfilling (Mu'alem and Feitelson 2001)."""

from typing import Literal, Self

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.carried_reservations import CarriedReservations
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.dispatching.rules.rule_params import ConservativeParams
from hpcsched.registration import builtin

Compression = Literal["arrival", "reservation"]
"""In which order reservations are moved to earlier times."""

COMPRESSIONS: dict[Compression, int] = {
    "arrival": codes.BY_ARRIVAL,
    "reservation": codes.BY_RESERVATION,
}
"""The codes of the orders in which reservations are moved to earlier times."""


@builtin(
    "dispatcher",
    "conservative",
    ConservativeParams,
    summary="a reservation for every job from its submission on, never moved later",
)
class Conservative:
    """Promises every job a start when it is submitted, and keeps its promises.

    A job is given the earliest reservation beside all those before it, which it keeps from round to
    round, on its nodes where nodes matter. A job is started as soon as this moves no reservation.
    When jobs have ended early, the schedule is compressed: each reservation in turn is moved to the
    earliest time there is beside the others, never to a later one. The turn is that of arrival or
    of the reservations' starts (`compression`).

    Where jobs outlive their predictions, or start late as decisions take time, some promises cannot
    be kept. Reservations are then moved later, in order of their starts and no more than needed,
    and the schedule is compressed. The reasons of a round say of a job what it was first promised.

    Source: A. W. Mu'alem and D. G. Feitelson, Utilization, predictability, workloads, and user
    runtime estimates in scheduling the IBM SP2 with backfilling, IEEE Transactions on Parallel and
    Distributed Systems 12(6), 2001.
    """

    @classmethod
    def build(cls, params: ConservativeParams, context: Context) -> Self:
        """Return the dispatcher with the chosen allocator."""
        return cls(context.make("allocator", params.allocator), params.compression)

    def __init__(self, allocator: Allocator, compression: Compression = "arrival") -> None:
        self.allocator = allocator
        self.compression = compression
        self._carried = CarriedReservations()
        self._rounds = CoreRounds(
            codes.CONSERVATIVE,
            allocator,
            carried=self._carried,
            choices={"compression": COMPRESSIONS[compression]},
        )

    @property
    def promised(self) -> dict[int, int]:
        """The first promise of each job that waits, by number, in seconds."""
        return self._carried.promised

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self._rounds.decide(problem, ArrivalOrder())
