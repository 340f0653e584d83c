"""What parts of a dispatcher may hear of, beside the problems that they are asked."""

from typing import Protocol, runtime_checkable

from hpcsched.dispatching.problem import RunningJob


@runtime_checkable
class JobEventObserver(Protocol):
    """A dispatcher, queue order or allocator that is told of every start and end of a job.

    Each is told once, in the order of the simulated events, and before the next problem is asked.
    Whatever has both methods is told. A problem that is asked by itself, as one that was saved and
    is solved again, comes without a history: what runs is in the problem, what has ended is not.
    """

    def job_started(self, job: RunningJob) -> None:
        """Take note that a job has started, at its start time."""

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Take note that a job has ended, at `end_time` in seconds; `job` is as it was started."""
