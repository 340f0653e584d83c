"""Expected waits: what the first PCP and HCP go by, in their priority and in their objectives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost, linear, wait_times
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder


@dataclass(frozen=True)
class ExpectedWaits(ExpectedWaitOrder):
    """What the first PCP and HCP go by: how long jobs of each queue are expected to wait (ewt).

    Their priority is that of priority rules. Source: Galleguillos, thesis 2020, section 2.3.
    """

    def pcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of PCP: Σ max(0, (sᵢ − qᵢ − ewtᵢ) / ewtᵢ)."""
        expected = self.of(jobs)
        left = expected - wait_times(jobs, now)
        weights = 1 / expected
        return linear(weights, np.maximum(left, 0), -float(weights @ left))

    def hcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of HCP: Σ max(ewt) / ewtᵢ · (sᵢ − qᵢ)."""
        weights = self.largest / self.of(jobs)
        waits = wait_times(jobs, now)
        return linear(weights, constant=float(weights @ waits))
