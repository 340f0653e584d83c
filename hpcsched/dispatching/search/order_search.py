"""Order search: an improver that looks for the order with the cheapest list plan."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hpcsched._core import search_orders
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_execution import ExecutedPlan
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, costs_of
from hpcsched.system.system import IntArray


class Effort(NamedTuple):
    """Budget and moves of a search.

    Attributes
    ----------
    budget
        Number of segments looked through, in making plans, at which the search ends.
    front_bias
        How much more often moves take a job from the front of the order; 1:
        from anywhere alike.
    """

    budget: int
    front_bias: float


@dataclass
class OrderSearch:
    """Searches for the order of the selected jobs with the cheapest list plan.

    Attributes
    ----------
    random
        State of the search's random numbers, `[1]`.
    discount_time_constant
        Discount time constant of planned waits, in seconds; None: waits count in full.
    warm_start
        Whether the search also begins with the best order of the round before (warm start).
    """

    effort: Effort
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
            search_costs(
                cost, selection.starts_in_seconds(data.run_times), self.discount_time_constant
            ),
            *self.effort,
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
