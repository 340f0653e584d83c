"""Queue order by the ratio of wait time to expected wait (priority rule-based dispatching)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from hpcsched.context import Context
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.rule_params import ExpectedWaitParams
from hpcsched.registration import builtin
from hpcsched.system.system import IntArray
from hpcsched.workload.job import WaitClass


@builtin(
    "queue_order",
    "expected-wait",
    ExpectedWaitParams,
    summary="largest wait time over the wait that is expected in its queue first",
    aliases=("expected_wait",),
)
@dataclass(frozen=True)
class ExpectedWaitOrder:
    """Queue order by wait time over expected wait, the largest ratio first.

    The expected wait of a class of jobs is the papers' ewt of a queue. Sources: Galleguillos et
    al., Data-driven job dispatching in HPC systems, MOD 2017, section 4; Galleguillos, thesis 2020,
    section 2.3.

    Attributes
    ----------
    other
        Expected wait of jobs in no listed class, in seconds.
    waits
        Expected wait, in seconds, by number of the queue or partition, or by the smallest size of a
        class of sizes.
    """

    other: int
    waits: Mapping[int, int] = field(default_factory=dict)
    by: WaitClass = WaitClass.QUEUE

    @classmethod
    def build(cls, params: ExpectedWaitParams, _context: Context) -> Self:
        """Create the order from its parameters."""
        return cls(params.other, params.waits, params.by)

    def of(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the expected waits of jobs, `[J]`, in seconds."""
        numbers = [self.by.number(job.job) for job in jobs]
        return self.of_numbers(np.array(numbers, dtype=np.int64))

    def of_numbers(self, numbers: IntArray) -> IntArray:
        """Return the expected waits of jobs given by their class numbers.

        Parameters
        ----------
        numbers
            Number of each job's queue or partition, or its number of units, `[J]`.

        Returns
        -------
        IntArray
            Expected waits in seconds, `[J]`.
        """
        if self.by is WaitClass.UNITS:
            # 0 stands for sizes below the smallest class, which have the wait `other`.
            bounds = np.array([0, *sorted(self.waits)], dtype=np.int64)
            numbers = bounds[np.searchsorted(bounds, numbers, side="right") - 1]
        # Few classes and many jobs: each class is looked up once.
        unlike, place = np.unique(numbers, return_inverse=True)
        waits = [self.waits.get(number, self.other) for number in unlike.tolist()]
        return np.array(waits, dtype=np.int64)[place]

    @property
    def largest(self) -> int:
        """Largest expected wait of all classes, in seconds."""
        return max([self.other, *self.waits.values()])

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by (t − qᵢ) / ewtᵢ, the largest first.

        Ties go to the smallest area: demand × predicted run time.
        """
        expected = self.of(problem.queue).tolist()
        # Negated wait, so that an ascending sort has the largest ratio first.
        keys = {
            job.job_id: ((job.submit_time - problem.now) / wait, job.area)
            for job, wait in zip(problem.queue, expected, strict=True)
        }
        return sorted(problem.queue, key=lambda job: keys[job.job_id])
