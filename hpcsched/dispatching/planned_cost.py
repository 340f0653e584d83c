"""What a plan costs: an objective looked at from one round, over planned starts."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.problem import WaitingJob
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
        response = wait + run_times
        upper = a / (a + 1) * float(self.amounts @ (response ** (a + 1) - wait ** (a + 1)))
        return upper, float(self.amounts @ (response**a - wait**a))


class PlannedCost(NamedTuple):
    """`constant + Σ weights[i] · max(starts[i], free[i]) + makespan · last end + specific`.

    Over `J` jobs; starts and ends in seconds from now. `weights`, `[J]`, and `makespan` are not
    negative, so that starting earlier never costs more. `free[i]`, `[J]`, in seconds: until then
    waiting costs job `i` nothing more. `specific` is there for a ratio of sums alone.
    """

    weights: FloatArray
    free: IntArray
    constant: float = 0.0
    makespan: float = 0.0
    specific: SpecificCost | None = None

    def value(self, starts: IntArray, run_times: IntArray) -> float:
        """Return what planned starts cost; both arguments `[J]`, in seconds from now."""
        cost = self.constant + float(self.weights @ np.maximum(starts, self.free))
        if self.makespan and len(starts):
            cost += self.makespan * float((starts + run_times).max())
        if self.specific is not None:
            upper, lower = self.specific.sums(starts, run_times)
            cost += upper - self.specific.level * lower
        return cost


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
