"""EASY backfilling (Lifka 1995; Feitelson and Weil 1998), with any queue order."""

from typing import Self

from hpcsched._core import Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.dispatching.rules.rule_params import EasyParams
from hpcsched.registration import builtin


@builtin(
    "dispatcher",
    "easy",
    EasyParams,
    summary="EASY backfilling: in order of arrival or any other, one reservation",
)
class Easy:
    """EASY backfilling: one reservation, for the first job that has to wait.

    The first job that does not fit, the head job, gets the one reservation of the round, at its
    shadow time: the earliest instant at which it fits if running jobs end as predicted, all ends of
    that instant counted. A later job that fits now is backfilled if it is predicted to end by then,
    or if the head job still fits beside it at the shadow time. Later jobs are tried in
    `backfill_order`.

    Parameters
    ----------
    order
        Queue order; None: first come, first served.
    backfill_order
        Order of the jobs behind the head job; None: the same order.
    """

    @classmethod
    def build(cls, params: EasyParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
        return cls(context.make("allocator", params.allocator), *chosen_orders(params, context))

    def __init__(
        self,
        allocator: Allocator,
        order: QueueOrder | None = None,
        backfill_order: QueueOrder | None = None,
    ) -> None:
        self.allocator = allocator
        self.order = ArrivalOrder() if order is None else order
        self.backfill_order = backfill_order
        has_own = backfill_order is not None
        self.rounds = CoreRounds(Rule.EASY, allocator, own_backfill_order=has_own)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self.rounds.decide(problem, self.order, self.backfill_order)


def chosen_orders(params: EasyParams, context: Context) -> tuple[QueueOrder, QueueOrder | None]:
    """Return the orders that the parameters select.

    Returns
    -------
    tuple[QueueOrder, QueueOrder | None]
        Queue order, and the order behind the head job or None.
    """
    order, behind = params.order, params.backfill_order
    return (
        context.make("queue_order", order),
        None if behind is None else context.make("queue_order", behind),
    )
