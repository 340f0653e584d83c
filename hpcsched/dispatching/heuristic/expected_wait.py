"""The order of priority rules: which job is closest to waiting longer than is expected of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.system import IntArray


@dataclass(frozen=True)
class ExpectedWaitOrder:
    """Sorts by wait time over expected wait, the largest first.

    How long jobs of a queue are expected to wait (the papers' ewt) is given in seconds:
    `by_queue` for queue numbers, `other` for all the rest. Sources: Galleguillos et al.,
    Data-driven job dispatching in HPC systems, MOD 2017, section 4; Galleguillos, thesis 2020,
    section 2.3.
    """

    other: int
    by_queue: Mapping[int, int] = field(default_factory=dict)

    def of(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the expected waits of jobs, `[J]`, in seconds."""
        waits = [self.by_queue.get(job.job.queue or 0, self.other) for job in jobs]
        return np.array(waits, dtype=np.int64)

    @property
    def largest(self) -> int:
        """The largest of all queues, in seconds."""
        return max([self.other, *self.by_queue.values()])

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by (t − qᵢ) / ewtᵢ, the largest first.

        Among equals the smallest job comes first: what it asks for × its predicted run time.
        """
        expected = self.of(problem.queue).tolist()
        keys = {
            job.job_id: ((job.submit_time - problem.now) / wait, job.area)
            for job, wait in zip(problem.queue, expected, strict=True)
        }
        return sorted(problem.queue, key=lambda job: keys[job.job_id])
