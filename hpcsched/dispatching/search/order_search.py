"""Order search: an improver that looks for the order with the cheapest list plan.

The best plan of the jobs in the queue is not always best for the run, as jobs that are yet to come
change every plan (Goponenko et al., DEBS 2024, sections 5.2 and 5.4). A surrogate objective changes
the cost a little in view of them; the defaults of `SurrogateParams` leave it unchanged. With a
discount time constant τ a planned wait of `w` seconds counts as τ · (1 − exp(−w / τ)), as plans for
the far future will be overtaken. With an area exponent a wait weighs (area / mean area of the
queue) to this power more: jobs of large area are overtaken most, so that their real waits exceed
the planned ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hpcsched._core import search_orders
from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Slowdown, WaitTime
from hpcsched.dispatching.planned_cost import CostOf, PlannedCost
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_execution import ExecutedPlan
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, costs_of
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob
from hpcsched.dispatching.search.params import SurrogateParams
from hpcsched.portable_math import of_each, power
from hpcsched.system.system import IntArray

_TINY = np.finfo(float).tiny


def surrogate_of(objective: Objective) -> SurrogateParams:
    """Return the surrogate's parameters for an objective (measured: docs/order-search.md)."""
    match objective:
        case Slowdown() | BoundedSlowdown():
            return SurrogateParams(discount_time_constant=3_600, front_bias=2.0)
        case AF() | WaitTime():
            return SurrogateParams(area_exponent=0.1, front_bias=2.5)
        case AWF():
            return SurrogateParams(area_exponent=0.1, warm_start=True)
        case PSF():
            return SurrogateParams(dinkelbach_parameter=0.8, warm_start=True, front_bias=2.0)
        case _:
            return SurrogateParams(warm_start=True)


@dataclass
class SurrogateObjective:
    """Surrogate cost of planned starts, and the queue order that serves it.

    A round asks for the cost of the queue as it was sorted, which is then known already.
    """

    cost_of: CostOf
    surrogate: SurrogateParams
    _known: tuple[Sequence[WaitingJob], int, PlannedCost] | None = None

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the surrogate cost of planned starts of jobs; `now` in seconds."""
        if self._known is not None:
            known, then, cost = self._known
            if then == now and known == jobs:
                return cost
        return self._cost(jobs, now)

    def _cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        cost = self.cost_of(jobs, now)
        if not self.surrogate.area_exponent:
            return cost
        areas = np.array([float(job.area) for job in jobs])
        # Relative to the mean, so that the unit of areas does not matter.
        factors = of_each(power, areas / areas.mean(), self.surrogate.area_exponent)
        return cost._replace(weights=cost.weights * factors)

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by area over the weight of a second of waiting, the least first.

        Notes
        -----
        It is the rule of Smith (1956). A ratio of sums gives no weights, and is served best in
        order of arrival (Goponenko et al., section 3.2).
        """
        queue, now = problem.queue, problem.now
        cost = self._cost(queue, now)
        weights = cost.weights.sum(axis=0)
        if weights.any():
            areas = np.array([float(job.area) for job in queue])
            # Stable, so that ties keep the order of arrival; a job without weight comes last.
            order = np.argsort(areas / np.maximum(weights, _TINY), kind="stable")
            queue, cost = tuple(queue[i] for i in order.tolist()), cost.in_order(order)
        self._known = queue, now, cost
        return queue


@dataclass
class OrderSearch:
    """Searches for the order of the selected jobs with the cheapest list plan.

    Attributes
    ----------
    budget
        Number of segments looked through, in making plans, at which the search ends.
    front_bias
        How much more often moves take a job from the front of the order; 1: from anywhere alike.
    random
        State of the search's random numbers, `[1]`.
    discount_time_constant
        Discount time constant of planned waits, in seconds; None: waits count in full.
    warm_start
        Whether the search also begins with the best order of the round before (warm start).
    """

    budget: int
    front_bias: float
    random: IntArray
    discount_time_constant: float | None = None
    warm_start: bool = False
    _last: dict[int, int] = field(default_factory=dict)

    def improve(self, given: PlanningRound) -> Improved:
        """Return the plan of the best order found."""
        return Improved(ExecutedPlan(given.selection, self.plan(given)))

    def plan(self, given: PlanningRound) -> Plan:
        """Return the plan of the best order found."""
        selection, data = given.selection, given.selection.data
        # Most costs are known without list plans, which the search makes for itself.
        cost = given.plans.target() if given.objective.moves else selection.cost
        order, starts = np.empty_like(data.units), np.empty_like(data.units)
        placed = np.empty_like(data.room)
        search_orders(
            np.array(self._orders(given), dtype=np.int64),
            data,
            given.planner.free,
            search_costs(cost, data.run_times, self.discount_time_constant),
            self.budget,
            self.front_bias,
            self.random,
            order,
            starts,
            placed,
        )
        if self.warm_start:
            self._last = {selection.jobs[i].job_id: place for place, i in enumerate(order.tolist())}
        return Plan(starts, placed)

    def _orders(self, given: PlanningRound) -> Sequence[Sequence[int]]:
        """Return the orders to begin with, as numbers of the selected jobs."""
        if not self.warm_start:
            return given.orders
        unknown = len(self._last)
        # Jobs that are new come last, by priority among themselves, as sorting is stable.
        places = [self._last.get(job.job_id, unknown) for job in given.selection.jobs]
        return [*given.orders, sorted(range(len(places)), key=places.__getitem__)]


def search_costs(
    cost: PlannedCost, run_times: IntArray, discount_time_constant: float | None
) -> StartTimeCosts:
    """Return the start-time cost functions for the core; run times in seconds, `[J]`."""
    # Starts count from now in a round, so that jobs were submitted before 0.
    waits = np.zeros_like(run_times) if cost.specific is None else cost.specific.waits
    return costs_of(cost, -waits.astype(np.int64), run_times, discount_time_constant)


def random_state(seed: int) -> IntArray:
    """Return the state of a search's random numbers, which is never 0, `[1]`."""
    # From a state of 0 the generator would never leave 0.
    return np.array([seed % (1 << 62) + 1], dtype=np.int64)
