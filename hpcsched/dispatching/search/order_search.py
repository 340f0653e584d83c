"""The dispatcher that searches orders: how it is put together."""

from dataclasses import replace

from hpcsched.context import Context
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection_options import LARGEST, SelectionOptions
from hpcsched.dispatching.search.improver import OrderSearch, random_state
from hpcsched.dispatching.search.order_kernels import Effort
from hpcsched.dispatching.search.params import OrderSearchParams, PursuitParams
from hpcsched.dispatching.search.pursuit import Pursued, Pursuit, pursuit_of


def make_online_order_search(params: OrderSearchParams, context: Context) -> PlanningDispatcher:
    """Return `order-search` for rounds; raises InputError for an objective without a plan cost."""
    pursuit = pursuit_of(context.objective) if params.pursuit is None else _pursuit(params.pursuit)
    objective = search_objective(context.objective, pursuit.level)
    pursued = Pursued(objective.cost_of, pursuit)
    return PlanningDispatcher(
        replace(objective, cost_of=pursued.cost),
        pursued if params.priority is None else context.make("queue_order", params.priority),
        OrderSearch(
            Effort(params.budget, pursuit.bias),
            random_state(context.seed),
            pursuit.patience,
            pursuit.carry,
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
        # With a patience little is asked of what is planned far ahead.
        keeps=not pursuit.patience,
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
