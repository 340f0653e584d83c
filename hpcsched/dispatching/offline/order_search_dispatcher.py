"""The dispatcher `order-search`: searches the order of list plans, on-line and off-line."""

from dataclasses import dataclass, replace

from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection import LARGEST, SelectionOptions
from hpcsched.dispatching.search.order_search import (
    OrderSearch,
    SurrogateObjective,
    random_state,
    surrogate_of,
)
from hpcsched.dispatching.search.params import OrderSearchParams
from hpcsched.registration import PLANS_OFFLINE, Context, builtin


@dataclass
class OrderSearchDispatcher(PlanningDispatcher):
    """Plans rounds by order search, and whole traces.

    Attributes
    ----------
    budget
        Pieces of plans to look through for each job of a trace, as in a round.
    """

    budget: int = 0
    seed: int = 0

    def plan_offline(self, problem: OfflineProblem) -> OfflinePlan:
        """Return a plan of all jobs; raises InputError where they cannot be planned for."""
        # What it takes, a solver among it, takes time to import.
        from hpcsched.dispatching.offline.planner import plan_offline  # noqa: PLC0415

        return plan_offline(problem, self.budget, self.seed)


@builtin(
    "dispatcher",
    "order-search",
    OrderSearchParams,
    summary="list scheduling in the order of least cost, found by a compiled search",
    capabilities={PLANS_OFFLINE},
)
def make_order_search(params: OrderSearchParams, context: Context) -> OrderSearchDispatcher:
    """Return `order-search`; raises InputError for an objective that cannot be planned for."""
    surrogate = params.surrogate_objective or surrogate_of(context.objective)
    objective = search_objective(context.objective, surrogate.dinkelbach_parameter)
    served = SurrogateObjective(objective.cost_of, surrogate)
    search = OrderSearch(
        params.budget,
        surrogate.front_bias,
        random_state(context.seed),
        surrogate.discount_time_constant,
        surrogate.warm_start,
    )
    # Not priced: compiled code has the cost itself.
    options = SelectionOptions(
        "all",
        params.queue_length,
        params.spare_nodes,
        largest=LARGEST,
        priced=False,
        counted=True,
        few=LITTLE,
    )
    return OrderSearchDispatcher(
        replace(objective, cost_of=served.cost),
        served if params.priority is None else context.make("queue_order", params.priority),
        search,
        context.make("allocator", params.allocator),
        options,
        tuple(context.make("queue_order", order) for order in params.orders),
        weighted=True,
        fill=params.fill,
        # Discounted waits say little about starts that are planned far ahead.
        keeps=surrogate.discount_time_constant is None,
        budget=params.budget,
        seed=context.seed,
    )
