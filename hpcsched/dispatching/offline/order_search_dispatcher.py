"""The dispatcher `order-search`: a rule of the core on-line, and a planner of whole traces.

The best plan of the jobs in the queue is not always best for the run, as jobs that are yet to come
change every plan (Goponenko et al., DEBS 2024, sections 5.2 and 5.4). A surrogate objective changes
the cost a little in view of them; the defaults of `SurrogateParams` leave it unchanged.
"""

from typing import Any

from hpcsched._core import Rule, SearchMemory, SearchSettings
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Slowdown, WaitTime
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.planned_cost import cost_terms_of, run_times, wait_times
from hpcsched.dispatching.planning.search_objective import SearchObjective, search_objective
from hpcsched.dispatching.planning.start_time_costs import costs_of
from hpcsched.dispatching.problem import DispatchingProblem, Objective
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.search.params import OrderSearchParams, SurrogateParams
from hpcsched.registration import PLANS_OFFLINE, Context, builtin


def surrogate_of(objective: Objective) -> SurrogateParams:
    """Return the surrogate's parameters for an objective (measured: docs/order-search.md)."""
    match objective:
        case Slowdown() | BoundedSlowdown():
            return SurrogateParams(discount_time_constant=14_400, hold=10, front_bias=2.0)
        case AF() | WaitTime():
            return SurrogateParams(area_exponent=0.1, front_bias=2.5)
        case AWF():
            return SurrogateParams(area_exponent=0.1, warm_start=True, front_bias=2.0)
        case PSF():
            return SurrogateParams(dinkelbach_parameter=0.8, warm_start=True, front_bias=2.0)
        case _:
            return SurrogateParams(warm_start=True)


class CarriedSearch:
    """Memory of the search from round to round, and costs of objectives unknown to the core."""

    def __init__(self, objective: SearchObjective | None) -> None:
        self._objective = objective
        self._memory: SearchMemory | None = None

    def write(self, filled: ProblemState) -> None:
        """Write it, with the costs of the queued jobs."""
        filled.set_jobs("number", [job.job_id for job in filled.order])
        filled.set_jobs("submit_time", [job.submit_time for job in filled.order])
        if self._memory is not None:
            filled.state.search = self._memory
        if self._objective is not None:
            jobs, now = filled.order, filled.problem.now
            cost = self._objective.cost_of(jobs, now)
            filled.state.set_costs(costs_of(cost, -wait_times(jobs, now), run_times(jobs)))

    def read(self, filled: ProblemState) -> None:
        """Read it after a round."""
        self._memory = filled.state.search


class OrderSearchDispatcher(CoreRule):
    """Plans rounds by the search for the best order, and whole traces.

    Attributes
    ----------
    budget
        Pieces of plans to look through in a round or, of a whole trace, for each job.
    unknown
        The objective where the core does not know its cost; else None.
    """

    def __init__(
        self, allocator: Allocator, settings: SearchSettings, unknown: SearchObjective | None = None
    ) -> None:
        super().__init__(
            Rule.ORDER_SEARCH,
            allocator,
            carried=CarriedSearch(unknown),
            search=settings,
            learns_run_times=True,
        )
        self.settings, self.unknown = settings, unknown
        if unknown is not None:
            self.needs_python = ("the objective",)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now, with reasons if the problem requests them."""
        decision = super().dispatch(problem)
        if self.unknown is not None:
            self.unknown.add(problem, decision.starts)
        return decision

    def plan_offline(self, problem: OfflineProblem) -> OfflinePlan:
        """Return a plan of all jobs; raises InputError where they cannot be planned for."""
        # What it takes, a solver among it, takes time to import.
        from hpcsched.dispatching.offline.planner import plan_offline  # noqa: PLC0415

        return plan_offline(problem, self.settings.budget, self.settings.seed)


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
    terms = cost_terms_of(context.objective)
    more: dict[str, Any] = {"terms": (), "alpha": None, "makespan": 0.0}
    if terms is not None:
        more = terms._asdict()
    settings = SearchSettings(
        **more,
        dinkelbach_parameter=surrogate.dinkelbach_parameter,
        discount_time_constant=surrogate.discount_time_constant or 0.0,
        area_exponent=surrogate.area_exponent,
        hold=surrogate.hold,
        front_bias=surrogate.front_bias,
        warm_start=surrogate.warm_start,
        budget=params.budget,
        queue_length=params.queue_length,
        seed=context.seed % (1 << 62),
    )
    allocator = context.make("allocator", params.allocator)
    return OrderSearchDispatcher(allocator, settings, objective if terms is None else None)
