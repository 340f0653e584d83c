"""The reasons of a round, noted job by job."""

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.reasons import Reason, ReasonKind


class RoundReasons:
    """Reasons for the jobs of a queue, noted in the order in which the jobs are considered.

    `head` is the first job that waits, which those that start after it have passed.
    """

    def __init__(self) -> None:
        self.noted: list[Reason] = []
        self.head: int | None = None

    def starts(self, job: WaitingJob) -> None:
        """Note a start: in order, or past the head job."""
        kind: ReasonKind = "in_order" if self.head is None else "backfilled"
        self.noted.append(Reason(job.job_id, kind, self.head))

    def waits(
        self,
        job: WaitingJob,
        kind: ReasonKind,
        *,
        other: int | None = None,
        time: int | None = None,
        detail: str = "",
    ) -> None:
        """Note why a job waits: the kind, the job that it speaks of, and its reservation."""
        if self.head is None:
            self.head = job.job_id
        self.noted.append(Reason(job.job_id, kind, other, time, detail))
