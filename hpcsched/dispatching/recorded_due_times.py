"""The starts that a log records: which jobs are due, and how closely a replay follows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.job import Job

MissingStart = Literal["error", "submission"]
"""What is done about a job without a recorded start: nothing, or it is due at its submission."""


@dataclass(slots=True)
class RecordedFigures:
    """How closely a replay has followed the log.

    Attributes
    ----------
    jobs
        Jobs that have started.
    without_start
        Those of them whose start is not recorded.
    later
        Those that started later than they were due, since there was no room.
    later_time
        By how much these were late, together, in seconds.
    latest
        By how much the last of them was late, in seconds.
    """

    jobs: int = 0
    without_start: int = 0
    later: int = 0
    later_time: int = 0
    latest: int = 0


class RecordedStarts:
    """The instants at which queued jobs are due by the log, and how closely they were kept.

    Jobs that are not due yet are held back from the dispatcher, which therefore sees no start
    before its time.

    Parameters
    ----------
    waits
        The recorded wait time of each job that has been read, in seconds; taken out as jobs start.
    log
        The log, for messages.
    missing_start
        What is done about a job that has none.
    """

    def __init__(self, waits: dict[int, int], log: str, missing_start: MissingStart) -> None:
        self.figures = RecordedFigures()
        self._waits = waits
        self._log = log
        self._missing_start = missing_start
        self._due: dict[int, int] = {}

    def due(self, job_id: int) -> int:
        """Return the instant at which a queued job is due, in seconds."""
        return self._due[job_id]

    def submitted(self, job: Job) -> None:
        """Take note of a job that has joined the queue; raises InputError without its start."""
        wait = self._waits.get(job.job_id)
        if wait is None and self._missing_start == "error":
            message = (
                f"job {job.job_id} has no recorded start at or after its submission; the parameter"
                " 'missing_start' of the dispatcher 'recorded' says what else to do"
            )
            raise InputError(Finding("missing-start", message, Place(self._log)))
        self._due[job.job_id] = job.submit_time + (wait or 0)

    def started(self, job_id: int, start_time: int) -> None:
        """Count a job that has started."""
        figures, late = self.figures, start_time - self._due[job_id]
        figures.jobs += 1
        figures.without_start += job_id not in self._waits
        if late:
            figures.later += 1
            figures.later_time += late
            figures.latest = max(figures.latest, late)

    def left(self, job_id: int) -> None:
        """Forget a job that has left the system."""
        self._due.pop(job_id, None)
        self._waits.pop(job_id, None)

    def held_back(self, queue: Iterable[WaitingJob], now: int) -> dict[int, Reason]:
        """Return the jobs of a queue that are not due yet, each with the reason, by number."""
        due = {job.job_id: self._due[job.job_id] for job in queue}
        return {
            job_id: Reason(job_id, "recorded_later", time=time)
            for job_id, time in due.items()
            if time > now
        }


@runtime_checkable
class FollowsRecord(Protocol):
    """A dispatcher whose jobs start when a log says."""

    def follow_record(self, waits: dict[int, int], log: str) -> RecordedStarts:
        """Take the wait times of a log, which fills them in as it is read; return what is due."""
