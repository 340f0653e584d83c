"""Relaxed backfilling (Ward, Mahood and West 2002)."""

from hpcsched._core import Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.rules.carried_reservations import CarriedPromises
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.easy import Easy, chosen_orders
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.dispatching.rules.rule_params import RelaxedParams
from hpcsched.registration import builtin


class Relaxed(Easy):
    """EASY backfilling that may delay the head job by a share of its expected wait.

    The head job's promise is the earliest shadow time that it has had. Its expected wait lasts from
    its submission to its promise; it may be delayed past the promise by at most `relaxation` (the
    paper's ω) times that. So the reservation that later jobs must respect lies that much after the
    promise, or at the present shadow time if this is later, as it may be where jobs outlive their
    predictions. The promise is kept from round to round and never becomes later, so that small
    delays do not add up. With a relaxation of 0 this is EASY.

    Source: W. A. Ward, C. L. Mahood and J. E. West, Scheduling jobs on parallel systems using a
    relaxed backfill strategy, JSSPP 2002. The reference point of the delay is our reading.

    Parameters
    ----------
    relaxation
        Maximum delay as a share of the expected wait (ω).
    order
        Queue order; None: first come, first served.
    backfill_order
        Order of the jobs behind the head job; None: the same order.
    """

    def __init__(
        self,
        allocator: Allocator,
        relaxation: float,
        order: QueueOrder | None = None,
        backfill_order: QueueOrder | None = None,
    ) -> None:
        super().__init__(allocator, order, backfill_order)
        self.relaxation = relaxation
        self.rounds = CoreRounds(
            Rule.RELAXED,
            allocator,
            carried=CarriedPromises({}),
            own_backfill_order=backfill_order is not None,
            relaxation=float(relaxation),
        )


@builtin(
    "dispatcher",
    "relaxed",
    RelaxedParams,
    summary="as easy, but the head job may be delayed a little",
)
def make_relaxed(params: RelaxedParams, context: Context) -> Relaxed:
    """Create `relaxed` from its parameters."""
    allocator = context.make("allocator", params.allocator)
    return Relaxed(allocator, params.relaxation, *chosen_orders(params, context))
