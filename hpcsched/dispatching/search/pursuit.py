"""What is planned for so that an objective is small in the end.

The best plan of the jobs in the queue is not always best for the run, as jobs that are yet to come
change every plan (Goponenko et al., DEBS 2024, sections 5.2 and 5.4). Here an objective's cost is
bent a little in view of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Slowdown, WaitTime
from hpcsched.dispatching.planned_cost import CostOf, PlannedCost
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob

_TINY = np.finfo(float).tiny


class Pursuit(NamedTuple):
    """How an objective is gone after; as it stands: plainly.

    - `patience`: a planned wait of `w` seconds counts as τ · (1 − exp(−w / τ)), τ being so many
      seconds; 0: in full. What is planned far ahead will be overtaken anyway.
    - `shortest`: a second of a job's wait weighs no more than if the job ran for so many seconds.
    - `growth`: it weighs (area / mean area of the queue) to this power more. Jobs of large area are
      overtaken most, so that their real waits exceed the planned ones.
    - `level`: around which share of the ratio so far plans are judged, for a ratio of sums.
    - `carry`: whether a search also begins with the best order of the round before.
    - `bias`: see `Effort`.
    """

    patience: int = 0
    shortest: int = 1
    growth: float = 0.0
    level: float = 1.0
    carry: bool = False
    bias: float = 1.0


def pursuit_of(objective: Objective) -> Pursuit:
    """Return what suits an objective (measured: docs/order-search.md)."""
    match objective:
        case Slowdown() | BoundedSlowdown():
            return Pursuit(patience=3_600, bias=2.0)
        case AF() | WaitTime():
            return Pursuit(growth=0.1, bias=2.5)
        case AWF():
            return Pursuit(growth=0.1, carry=True)
        case PSF():
            return Pursuit(level=0.8, carry=True, bias=2.0)
        case _:
            return Pursuit(carry=True)


class _Known(NamedTuple):
    """The cost of some jobs at a time."""

    jobs: Sequence[WaitingJob]
    now: int
    cost: PlannedCost


@dataclass
class Pursued:
    """A cost of planned starts as it is pursued, and the queue order that serves it.

    A round asks for the cost of the queue as it was sorted, which is then known already.
    """

    cost_of: CostOf
    pursuit: Pursuit
    _known: _Known | None = None

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return what planned starts of the jobs count."""
        known = self._known
        if known is not None and known.now == now and known.jobs == jobs:
            return known.cost
        return self._cost(jobs, now)

    def _cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        cost = self.cost_of(jobs, now)
        weights, shortest = cost.weights, self.pursuit.shortest
        if shortest > 1:
            longer = [
                job
                if job.predicted_run_time >= shortest
                else job._replace(predicted_run_time=shortest)
                for job in jobs
            ]
            weights = np.minimum(weights, self.cost_of(longer, now).weights)
        if self.pursuit.growth:
            areas = np.array([float(job.area) for job in jobs])
            weights = weights * (areas / areas.mean()) ** self.pursuit.growth
        return cost._replace(weights=weights)

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by area over what a second of waiting weighs, the least first.

        It is the rule of Smith (1956). A ratio of sums gives no weights, and is served best in
        order of arrival (Goponenko et al., section 3.2).
        """
        queue, now = problem.queue, problem.now
        cost = self._cost(queue, now)
        weights = cost.weights.sum(axis=0)
        if weights.any():
            areas = np.array([float(job.area) for job in queue])
            order = np.argsort(areas / np.maximum(weights, _TINY), kind="stable")
            queue, cost = tuple(queue[i] for i in order.tolist()), cost.in_order(order)
        self._known = _Known(queue, now, cost)
        return queue
