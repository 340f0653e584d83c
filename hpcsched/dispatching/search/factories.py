"""What builds the dispatcher that searches orders.

To be imported where one is built: compiled code takes time to import.
"""

from typing import Any, Protocol

import numpy as np

from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.planned_cost import Plannable, PlannableRatio
from hpcsched.dispatching.search.dispatcher import OrderSearch, SearchSettings
from hpcsched.dispatching.search.level import Level
from hpcsched.dispatching.search.params import OrderSearchParams, PursuitParams
from hpcsched.dispatching.search.pursuit import Pursued, Pursuit, pursuit_of
from hpcsched.errors import Finding, InputError


class Context(Protocol):
    """What the factory here needs of an assembly."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    @property
    def seed(self) -> int:
        """A seed for this plugin."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


def make_order_search(params: OrderSearchParams, context: Context) -> OrderSearch:
    """Return `order-search`; raises InputError for an objective that cannot be planned for."""
    objective, level = context.objective, None
    pursuit = pursuit_of(objective) if params.pursuit is None else _pursuit(params.pursuit)
    if isinstance(objective, Plannable):
        cost_of = objective.planned_cost
    elif isinstance(objective, PlannableRatio):
        level = Level(objective, pursuit.level)
        cost_of = level.cost
    else:
        message = f"{type(objective).__name__} cannot be planned for: its plans have no cost"
        raise InputError(Finding("no-planned-cost", message, key="objective"))
    settings = SearchSettings(
        params.queue_length,
        params.spare_nodes,
        tuple(context.make("queue_order", order) for order in params.orders),
        params.budget,
    )
    # The state of the kernels' random numbers, which is never 0.
    random = np.array([context.seed % (1 << 62) + 1], dtype=np.int64)
    return OrderSearch(
        None if params.priority is None else context.make("queue_order", params.priority),
        Pursued(cost_of, level, pursuit),
        context.make("allocator", params.allocator),
        settings,
        random,
    )


def _pursuit(params: PursuitParams) -> Pursuit:
    return Pursuit(
        params.patience or 0,
        params.shortest,
        params.growth,
        params.level,
        params.carry,
        params.bias,
    )
