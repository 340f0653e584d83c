"""Dispatchers that can also plan a whole trace."""

from dataclasses import dataclass

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.search.order_search import make_online_order_search
from hpcsched.dispatching.search.params import OrderSearchParams
from hpcsched.registration import PLANS_OFFLINE, builtin


@dataclass(frozen=True)
class OfflineToo:
    """A dispatcher that decides rounds by another one, and can plan off-line.

    Attributes
    ----------
    online
        The dispatcher of the rounds.
    allocator
        Places jobs where plans only count, as the other dispatcher's does.
    budget
        Pieces of plans to look through for each job of the trace, as in a round of the other.
    seed
        Seed of the search.
    """

    online: Dispatcher
    allocator: Allocator
    budget: int
    seed: int

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the other dispatcher's decision."""
        return self.online.dispatch(problem)

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
def make_order_search(params: OrderSearchParams, context: Context) -> OfflineToo:
    """Return `order-search`; raises InputError for an objective that cannot be planned for."""
    online = make_online_order_search(params, context)
    return OfflineToo(online, online.allocator, params.budget, context.seed)
