"""Surrogate objectives: the cost that a round minimises to improve the objective over the run.

The best plan of the jobs in the queue is not always best for the run, as jobs that are yet to come
change every plan (Goponenko et al., DEBS 2024, sections 5.2 and 5.4). Here an objective's cost is
changed a little in view of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Slowdown, WaitTime
from hpcsched.dispatching.planned_cost import CostOf, PlannedCost
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob
from hpcsched.portable_math import of_each, power

_TINY = np.finfo(float).tiny


class Surrogate(NamedTuple):
    """Parameters of the surrogate; the defaults leave the objective unchanged.

    Attributes
    ----------
    discount_time_constant
        Discount time constant τ in seconds: a planned wait of `w` seconds counts as
        τ · (1 − exp(−w / τ)); 0: in full. Plans for the far future will be overtaken anyway.
    minimum_run_time
        Minimum run time in seconds: a shorter job's wait weighs no more than at this run time.
    area_exponent
        Area exponent: a wait weighs (area / mean area of the queue) to this power more. Jobs of
        large area are overtaken most, so that their real waits exceed the planned ones.
    dinkelbach_parameter
        Dinkelbach parameter of a ratio of sums, as a share of the ratio so far.
    warm_start
        Warm start: the search also begins with the best order of the round before.
    front_bias
        Front bias of moves, see `Effort`.
    """

    discount_time_constant: int = 0
    minimum_run_time: int = 1
    area_exponent: float = 0.0
    dinkelbach_parameter: float = 1.0
    warm_start: bool = False
    front_bias: float = 1.0


def surrogate_of(objective: Objective) -> Surrogate:
    """Return the surrogate's parameters for an objective (measured: docs/order-search.md)."""
    match objective:
        case Slowdown() | BoundedSlowdown():
            return Surrogate(discount_time_constant=3_600, front_bias=2.0)
        case AF() | WaitTime():
            return Surrogate(area_exponent=0.1, front_bias=2.5)
        case AWF():
            return Surrogate(area_exponent=0.1, warm_start=True)
        case PSF():
            return Surrogate(dinkelbach_parameter=0.8, warm_start=True, front_bias=2.0)
        case _:
            return Surrogate(warm_start=True)


class _Known(NamedTuple):
    """The cost of some jobs at a time."""

    jobs: Sequence[WaitingJob]
    now: int
    cost: PlannedCost


@dataclass
class SurrogateObjective:
    """Surrogate cost of planned starts, and the queue order that serves it.

    A round asks for the cost of the queue as it was sorted, which is then known already.
    """

    cost_of: CostOf
    surrogate: Surrogate
    _known: _Known | None = None

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the surrogate cost of planned starts.

        Parameters
        ----------
        jobs
            The jobs to plan.
        now
            The time of the round, in seconds.
        """
        known = self._known
        if known is not None and known.now == now and known.jobs == jobs:
            return known.cost
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
        self._known = _Known(queue, now, cost)
        return queue
