"""The order of priority rules: which job is closest to waiting longer than is expected of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from hpcsched.context import Context
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.rule_params import ExpectedWaitParams
from hpcsched.registration import builtin
from hpcsched.system.system import IntArray
from hpcsched.workload.wait_classes import WaitClass


@builtin(
    "queue_order",
    "expected-wait",
    ExpectedWaitParams,
    summary="largest wait time over the wait that is expected in its queue first",
    former_names=["expected_wait"],
)
@dataclass(frozen=True)
class ExpectedWaitOrder:
    """Sorts by wait time over expected wait, the largest first.

    How long jobs of a class are expected to wait (the papers' ewt, of a queue) is given in seconds:
    `waits` by the number of their queue or partition, or by the least number of units in a class
    of sizes; `other` for all the rest. Sources: Galleguillos et al., Data-driven job dispatching in
    HPC systems, MOD 2017, section 4; Galleguillos, thesis 2020, section 2.3.
    """

    other: int
    waits: Mapping[int, int] = field(default_factory=dict)
    by: WaitClass = WaitClass.QUEUE

    @classmethod
    def build(cls, params: ExpectedWaitParams, _context: Context) -> Self:
        """Return the order by the expected waits of the parameters."""
        return cls(params.other, params.waits, params.by)

    def of(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the expected waits of jobs, `[J]`, in seconds."""
        numbers = [self.by.number(job.job) for job in jobs]
        return self.of_numbers(np.array(numbers, dtype=np.int64))

    def of_numbers(self, numbers: IntArray) -> IntArray:
        """Return the expected waits, `[J]`, of jobs of these queues, partitions or units."""
        if self.by is WaitClass.UNITS:
            bounds = np.array([0, *sorted(self.waits)], dtype=np.int64)
            numbers = bounds[np.searchsorted(bounds, numbers, side="right") - 1]
        unlike, place = np.unique(numbers, return_inverse=True)
        waits = [self.waits.get(number, self.other) for number in unlike.tolist()]
        return np.array(waits, dtype=np.int64)[place]

    @property
    def largest(self) -> int:
        """The largest of all classes, in seconds."""
        return max([self.other, *self.waits.values()])

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
