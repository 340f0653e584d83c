"""EASY backfilling (Lifka 1995; Feitelson and Weil 1998), in any order."""

from typing import Self

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
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
    """Starts jobs in an order; behind the first that must wait, those that don't delay it.

    The first job that does not fit, the head job, gets the one reservation of the round, at its
    shadow time: the earliest instant at which it fits if running jobs end as predicted, all ends of
    that instant counted. Any later job that fits now is started if it is predicted to end by then,
    or if the head job still fits at the shadow time beside it. Later jobs are tried in
    `backfill_order`; if it is None, in the same order.
    """

    @classmethod
    def build(cls, params: EasyParams, context: Context) -> Self:
        """Return the dispatcher with the chosen allocator and orders."""
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
        self._rounds = CoreRounds(codes.EASY, allocator, own_backfill_order=self._has_own)

    @property
    def _has_own(self) -> bool:
        """Whether jobs behind the head job are tried in another order."""
        return self.backfill_order is not None

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        return self._rounds.decide(problem, self.order, self.backfill_order)


def chosen_orders(params: EasyParams, context: Context) -> tuple[QueueOrder, QueueOrder | None]:
    """Return the order of the queue, and that behind the head job or None."""
    order, behind = params.order, params.backfill_order
    return (
        context.make("queue_order", order),
        None if behind is None else context.make("queue_order", behind),
    )
