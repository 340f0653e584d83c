"""The dispatcher that searches orders: how it is put together."""

from dataclasses import replace

from hpcsched.context import Context
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection_options import LARGEST, SelectionOptions
from hpcsched.dispatching.search.improver import Effort, OrderSearch, random_state
from hpcsched.dispatching.search.params import OrderSearchParams, SurrogateParams
from hpcsched.dispatching.search.surrogate_objective import (
    Surrogate,
    SurrogateObjective,
    surrogate_of,
)


def make_online_order_search(params: OrderSearchParams, context: Context) -> PlanningDispatcher:
    """Return `order-search` for rounds; raises InputError for an objective without a plan cost."""
    chosen = params.surrogate_objective
    surrogate = surrogate_of(context.objective) if chosen is None else _surrogate(chosen)
    objective = search_objective(context.objective, surrogate.dinkelbach_parameter)
    surrogate_objective = SurrogateObjective(objective.cost_of, surrogate)
    return PlanningDispatcher(
        replace(objective, cost_of=surrogate_objective.cost),
        surrogate_objective
        if params.priority is None
        else context.make("queue_order", params.priority),
        OrderSearch(
            Effort(params.budget, surrogate.front_bias),
            random_state(context.seed),
            surrogate.discount_time_constant,
            surrogate.warm_start,
        ),
        context.make("allocator", params.allocator),
        # Compiled code has the cost itself.
        SelectionOptions(
            "all",
            params.queue_length,
            params.spare_nodes,
            largest=LARGEST,
            priced=False,
            counted=True,
            few=LITTLE,
        ),
        tuple(context.make("queue_order", order) for order in params.orders),
        weighted=True,
        fill=params.fill,
        # Discounted waits say little about starts that are planned far ahead.
        keeps=not surrogate.discount_time_constant,
    )


def _surrogate(params: SurrogateParams) -> Surrogate:
    return Surrogate(
        params.discount_time_constant or 0,
        params.minimum_run_time,
        params.area_exponent,
        params.dinkelbach_parameter,
        params.warm_start,
        params.front_bias,
    )
