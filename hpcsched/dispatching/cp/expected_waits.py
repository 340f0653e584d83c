"""Expected waits: what the first PCP and HCP go by, in their priority and in their objectives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost, linear, wait_times
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.system import IntArray


@dataclass(frozen=True)
class ExpectedWaits:
    """What the first PCP and HCP go by: how long jobs of each queue are expected to wait (ewt).

    `by_queue` has seconds for queue numbers, `other` is for all the rest. Source: Galleguillos,
    thesis 2020, section 2.3.
    """

    other: int
    by_queue: Mapping[int, int] = field(default_factory=dict)

    def of(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the expected waits of jobs, `[J]`, in seconds."""
        waits = [self.by_queue.get(job.job.queue or 0, self.other) for job in jobs]
        return np.array(waits, dtype=np.int64)

    @property
    def largest(self) -> int:
        """The largest of all queues."""
        return max(self.other, *self.by_queue.values(), 1)

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by max(ewt) / ewtᵢ · (t − qᵢ), the largest first.

        Among equals the smallest job comes first: what it asks for × its run time.
        """
        expected = self.of(problem.queue).tolist()
        keys = {
            job.job_id: ((job.submit_time - problem.now) / wait, job.area)
            for job, wait in zip(problem.queue, expected, strict=True)
        }
        return sorted(problem.queue, key=lambda job: keys[job.job_id])

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
