"""Surrogate objectives: the cost that a round minimises to improve the objective over the run.

The best plan of the jobs in the queue is not always best for the run, as jobs that are yet to come
change every plan (Goponenko et al., DEBS 2024, sections 5.2 and 5.4). Here an objective's cost is
changed a little in view of them.

The defaults of `SurrogateParams` leave the objective unchanged. With a discount time constant τ a
planned wait of `w` seconds counts as τ · (1 − exp(−w / τ)), as plans for the far future will be
overtaken. Under a minimum run time a shorter job's wait weighs no more than at this run time. With
an area exponent a wait weighs (area / mean area of the queue) to this power more: jobs of large
area are overtaken most, so that their real waits exceed the planned ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Slowdown, WaitTime
from hpcsched.dispatching.planned_cost import CostOf, PlannedCost
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob
from hpcsched.dispatching.search.params import SurrogateParams
from hpcsched.portable_math import of_each, power

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
        weights, minimum_run_time = cost.weights, self.surrogate.minimum_run_time
        if minimum_run_time > 1:
            longer = [
                job
                if job.predicted_run_time >= minimum_run_time
                else job._replace(predicted_run_time=minimum_run_time)
                for job in jobs
            ]
            # The lesser of the two: a longer run time may also raise a weight, where cost grows
            # with area.
            weights = np.minimum(weights, self.cost_of(longer, now).weights)
        if self.surrogate.area_exponent:
            areas = np.array([float(job.area) for job in jobs])
            # Relative to the mean, so that the unit of areas does not matter.
            of_mean = areas / areas.mean()
            weights = weights * of_each(power, of_mean, self.surrogate.area_exponent)
        return cost._replace(weights=weights)

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
