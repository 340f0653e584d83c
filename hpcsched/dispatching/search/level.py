"""What a ratio of sums has come to so far."""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.planned_cost import PlannableRatio, PlannedCost, run_times
from hpcsched.dispatching.problem import WaitingJob


class Level:
    """Adds up a ratio over the jobs that were started, with their predicted run times.

    Plans are judged around `share` times the ratio so far (see `SpecificCost`).
    """

    def __init__(self, objective: PlannableRatio, share: float) -> None:
        self._objective = objective
        self._share = share
        self._upper = self._lower = 0.0

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost of planned starts around the present level."""
        ratio = self._upper / self._lower if self._lower else 0.0
        return self._objective.planned_ratio(jobs, now, self._share * ratio)

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Add jobs that start now."""
        cost = self._objective.planned_ratio(started, now, 0.0)
        assert cost.specific is not None
        starts = np.zeros(len(started), dtype=np.int64)
        upper, lower = cost.specific.sums(starts, run_times(started))
        self._upper += upper
        self._lower += lower
