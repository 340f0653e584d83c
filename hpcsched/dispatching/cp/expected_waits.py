"""Expected waits: the priority and the objectives of the first PCP and HCP."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost, linear, wait_times
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder


@dataclass(frozen=True)
class ExpectedWaits(ExpectedWaitOrder):
    """The wait that jobs of each queue are expected to have (ewt), for the first PCP and HCP.

    Their priority is that of priority rules. Source: Galleguillos, thesis 2020, section 2.3.
    """

    def pcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of PCP: Σ max(0, (sᵢ − qᵢ − ewtᵢ) / ewtᵢ).

        Parameters
        ----------
        jobs
            The jobs.
        now
            The time of the round, in seconds.
        """
        expected = self.of(jobs)
        left = expected - wait_times(jobs, now)
        weights = 1 / expected
        # `linear` charges weight · max(start, left): less weight · left that is the excess over
        # ewt, also for a job that has waited longer already (left < 0).
        return linear(weights, np.maximum(left, 0), -float(weights @ left))

    def hcp_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective of HCP: Σ max(ewt) / ewtᵢ · (sᵢ − qᵢ).

        Parameters
        ----------
        jobs
            The jobs.
        now
            The time of the round, in seconds.
        """
        weights = self.largest / self.of(jobs)
        waits = wait_times(jobs, now)
        return linear(weights, constant=float(weights @ waits))
