"""What a plan costs: an objective looked at from one round, over planned starts."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.system import IntArray

FloatArray = npt.NDArray[np.float64]


class PlannedCost(NamedTuple):
    """`constant + Σ weights[i] · max(starts[i], free[i]) + makespan · last end`.

    Over `J` jobs; starts and ends in seconds from now. `weights`, `[J]`, and `makespan` are not
    negative, so that starting earlier never costs more. `free[i]`, `[J]`, in seconds: until then
    waiting costs job `i` nothing more.
    """

    weights: FloatArray
    free: IntArray
    constant: float = 0.0
    makespan: float = 0.0

    def value(self, starts: IntArray, run_times: IntArray) -> float:
        """Return what planned starts cost; both arguments `[J]`, in seconds from now."""
        cost = self.constant + float(self.weights @ np.maximum(starts, self.free))
        if self.makespan and len(starts):
            cost += self.makespan * float((starts + run_times).max())
        return cost


@runtime_checkable
class Plannable(Protocol):
    """An objective that dispatchers can pursue by planning."""

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost of planned starts of the jobs, in the objective's own unit."""


def wait_times(jobs: Sequence[WaitingJob], now: int) -> IntArray:
    """Return how long the jobs have waited, `[J]`, in seconds."""
    return np.array([now - job.submit_time for job in jobs], dtype=np.int64)


def run_times(jobs: Sequence[WaitingJob]) -> IntArray:
    """Return the jobs' predicted run times, `[J]`, in seconds."""
    return np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
