"""Order search: an improver that looks for the order with the cheapest list plan."""

from dataclasses import dataclass

import numpy as np

from hpcsched._core import search_orders
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_improver import PlanningRound
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, costs_of
from hpcsched.system.system import IntArray


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
    """

    budget: int
    front_bias: float
    random: IntArray

    def plan(self, given: PlanningRound) -> Plan:
        """Return the plan of the best order found."""
        selection, data = given.selection, given.selection.data
        # Most costs are known without list plans, which the search makes for itself.
        cost = given.plans.target() if given.objective.moves else selection.cost
        order, starts = np.empty_like(data.units), np.empty_like(data.units)
        placed = np.empty_like(data.room)
        search_orders(
            np.array(given.orders, dtype=np.int64),
            data,
            given.planner.free,
            search_costs(cost, data.run_times),
            self.budget,
            self.front_bias,
            self.random,
            order,
            starts,
            placed,
        )
        return Plan(starts, placed)


def search_costs(cost: PlannedCost, run_times: IntArray) -> StartTimeCosts:
    """Return the start-time cost functions for the core; run times in seconds, `[J]`."""
    # Starts count from now in a round, so that jobs were submitted before 0.
    waits = np.zeros_like(run_times) if cost.specific is None else cost.specific.waits
    return costs_of(cost, -waits.astype(np.int64), run_times)


def random_state(seed: int) -> IntArray:
    """Return the state of a search's random numbers, which is never 0, `[1]`."""
    # From a state of 0 the generator would never leave 0.
    return np.array([seed % (1 << 62) + 1], dtype=np.int64)
