"""What a plan costs: an objective looked at from one round, over planned starts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.metrics.weighted_response import power_difference
from hpcsched.system.system import IntArray

FloatArray = npt.NDArray[np.float64]


class SpecificCost(NamedTuple):
    """A ratio of sums over jobs, PαSF, made linear at a level: `Σ upper[i] − level · Σ lower[i]`.

    `upper[i]` = amounts[i] · (α+1)/(α+2) · (F^(α+2) − Q^(α+2)) and `lower[i]` = amounts[i] ·
    (F^(α+1) − Q^(α+1)), with Q = waits[i] + starts[i], the wait of job `i` in all, and F its
    response time (Goponenko et al., DEBS 2024, equation (6)). Of two plans that leave the ratio
    near `level`, the one that costs less has the lower ratio (Dinkelbach, 1967). `amounts` and
    `waits` until now, in seconds, are `[J]`.
    """

    alpha: float
    level: float
    amounts: FloatArray
    waits: FloatArray

    def sums(self, starts: IntArray, run_times: IntArray) -> tuple[float, float]:
        """Return `Σ upper` and `Σ lower`; both arguments `[J]`, in seconds from now."""
        a = self.alpha + 1
        wait = self.waits + starts
        times = run_times.astype(np.float64)
        upper = a / (a + 1) * float(self.amounts @ power_difference(wait, times, a + 1))
        return upper, float(self.amounts @ power_difference(wait, times, a))

    def ratio(self, starts: IntArray, run_times: IntArray) -> float:
        """Return PαSF of planned jobs, in seconds, whatever the level; 0 where they weigh nothing.

        A plan of a lower ratio costs less than nothing at a level of this one, and one that costs
        least at its own ratio has the least there is (Dinkelbach, 1967). It differs from the metric
        by rounding alone.
        """
        upper, lower = self.sums(starts, run_times)
        return upper / lower if lower else 0.0


class PlannedCost(NamedTuple):
    """`constant + Σ weights[t, i] · max(starts[i], free[t, i]) + makespan · last end + specific`.

    Over `T` terms of `J` jobs; starts and ends in seconds from now. `weights`, `[T, J]`, and
    `makespan` are not negative, so that starting earlier never costs more. `free[t, i]`, `[T, J]`,
    in seconds: until then waiting costs job `i` nothing more in term `t`. `specific` is there for a
    ratio of sums alone.

    `population`: where the objective is a mean over jobs and the cost its sum, of how many; 1 where
    the cost is on the objective's own scale. So the cost over `population` is the objective of the
    planned jobs, but for what no plan changes.
    """

    weights: FloatArray
    free: IntArray
    constant: float = 0.0
    makespan: float = 0.0
    specific: SpecificCost | None = None
    population: int = 1

    def in_order(self, jobs: IntArray) -> "PlannedCost":
        """Return the cost of the same jobs in another order, given as their numbers, `[J]`."""
        specific = self.specific
        if specific is not None:
            specific = specific._replace(amounts=specific.amounts[jobs], waits=specific.waits[jobs])
        weights, free = self.weights[:, jobs], self.free[:, jobs]
        return self._replace(weights=weights, free=free, specific=specific)

    def value(self, starts: IntArray, run_times: IntArray) -> float:
        """Return what planned starts cost; both arguments `[J]`, in seconds from now."""
        cost = self.constant + float((self.weights * np.maximum(starts, self.free)).sum())
        if self.makespan and len(starts):
            cost += self.makespan * float((starts + run_times).max())
        if self.specific is not None:
            upper, lower = self.specific.sums(starts, run_times)
            cost += upper - self.specific.level * lower
        return cost


CostOf = Callable[[Sequence[WaitingJob], int], PlannedCost]
"""Returns the cost of planned starts of some jobs, from a time on."""


def linear(weights: FloatArray, free: IntArray | None = None, constant: float = 0.0) -> PlannedCost:
    """Return a cost of one linear term; `weights` and `free`, `[J]`, which is 0 if not given."""
    until = np.zeros(len(weights), dtype=np.int64) if free is None else free
    return PlannedCost(weights[np.newaxis], until[np.newaxis], constant)


def weighted_sum(weights: Sequence[float], costs: Sequence[PlannedCost]) -> PlannedCost:
    """Return Σ weight · cost over costs of the same jobs, each on the scale of its objective.

    That is, divided by its `population` before it is weighted. No cost may have a `specific`: a sum
    with a ratio of sums is not one of what this describes. Raises ValueError where one has.
    """
    if any(cost.specific is not None for cost in costs):
        raise ValueError("a ratio of sums cannot be added up with other costs")
    factors = [weight / cost.population for weight, cost in zip(weights, costs, strict=True)]
    scaled = list(zip(factors, costs, strict=True))
    return PlannedCost(
        np.concatenate([factor * cost.weights for factor, cost in scaled]),
        np.concatenate([cost.free for cost in costs]),
        sum(factor * cost.constant for factor, cost in scaled),
        sum(factor * cost.makespan for factor, cost in scaled),
    )


@runtime_checkable
class Plannable(Protocol):
    """An objective that dispatchers can pursue by planning."""

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost of planned starts of the jobs, in the objective's own unit."""


@runtime_checkable
class PlannableRatio(Protocol):
    """An objective that is a ratio of sums, which can be pursued around a level."""

    def planned_ratio(self, jobs: Sequence[WaitingJob], now: int, level: float) -> PlannedCost:
        """Return the cost of planned starts of the jobs where the ratio is about `level`."""


def wait_times(jobs: Sequence[WaitingJob], now: int) -> IntArray:
    """Return how long the jobs have waited, `[J]`, in seconds."""
    return np.array([now - job.submit_time for job in jobs], dtype=np.int64)


def run_times(jobs: Sequence[WaitingJob]) -> IntArray:
    """Return the jobs' predicted run times, `[J]`, in seconds."""
    return np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
