"""The reasons of a round, noted job by job."""

from typing import Protocol

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.reasons import Reason, ReasonKind


class Shortage(Protocol):
    """What knows of what there is too little; a `Workspace` is one."""

    def short_of(self, job: WaitingJob) -> str:
        """Return what a job lacks where nodes have room for it; empty if nothing is told."""


class RoundReasons:
    """Reasons for the jobs of a queue, noted in the order in which the jobs are considered.

    `head` is the first job that waits, which those that start after it have passed. `shortage` is
    asked about each job for which there is no room, when that is noted.
    """

    def __init__(self, shortage: Shortage) -> None:
        self._shortage = shortage
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
        if kind == "no_room":
            detail = "; ".join(part for part in (self._shortage.short_of(job), detail) if part)
        self.noted.append(Reason(job.job_id, kind, other, time, detail))
