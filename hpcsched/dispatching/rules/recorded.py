"""Dispatcher `recorded`: the log's own schedule, with jobs started at their recorded times."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision, Reason
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.core_rules import CoreRule, list_rule
from hpcsched.dispatching.rules.orders import KeyOrder
from hpcsched.dispatching.rules.rule_params import MissingStart, RecordedParams
from hpcsched.errors import Finding, InputError, Place
from hpcsched.registration import FOLLOWS_RECORD, Context, builtin
from hpcsched.workload.job import Job

if TYPE_CHECKING:
    from hpcsched.dispatching.problem import WaitingJob


@dataclass(slots=True)
class RecordedFigures:
    """Numbers of jobs, of these without a recorded start, and of those that started after it.

    `later_time` and `latest` are the sum and the largest of their delays, in seconds.
    """

    jobs: int = 0
    without_start: int = 0
    later: int = 0
    later_time: int = 0
    latest: int = 0


class RecordedStarts:
    """Due times of queued jobs according to the log, and statistics of the actual starts.

    Jobs before their due time are hidden from the dispatcher, which therefore sees no start early.

    Parameters
    ----------
    waits
        Recorded wait time of each job that has been read, in seconds; entries are removed as jobs
        start.
    """

    def __init__(self, waits: dict[int, int], log: str, missing_start: MissingStart) -> None:
        self.figures = RecordedFigures()
        self._waits = waits
        self._log = log
        self._missing_start = missing_start
        self._due: dict[int, int] = {}

    def due(self, job_id: int) -> int:
        """Return the due time of a queued job, in seconds."""
        return self._due[job_id]

    def submitted(self, job: Job) -> None:
        """Record a job that has joined the queue."""
        wait = self._waits.get(job.job_id)
        if wait is None and self._missing_start == "error":
            message = (
                f"job {job.job_id} has no recorded start at or after its submission; the parameter"
                " 'missing_start' of the dispatcher 'recorded' says what else to do"
            )
            raise InputError(Finding("missing-start", message, Place(self._log)))
        self._due[job.job_id] = job.submit_time + (wait or 0)

    def started(self, job_id: int, start_time: int) -> None:
        """Record the start of a job, in seconds, and its delay."""
        # Never negative: a job is hidden from the dispatcher until it is due.
        figures, late = self.figures, start_time - self._due[job_id]
        figures.jobs += 1
        figures.without_start += job_id not in self._waits
        if late:
            figures.later += 1
            figures.later_time += late
            figures.latest = max(figures.latest, late)

    def left(self, job_id: int) -> None:
        """Remove a job that has left the system."""
        self._due.pop(job_id, None)
        self._waits.pop(job_id, None)

    def held_back(self, queue: "Iterable[WaitingJob]", now: int) -> dict[int, Reason]:
        """Return the reasons of the queued jobs before their due time, by job number."""
        due = {job.job_id: self._due[job.job_id] for job in queue}
        return {
            job_id: Reason(job_id, "recorded_later", time=time)
            for job_id, time in due.items()
            if time > now
        }


@runtime_checkable
class FollowsRecord(Protocol):
    """Protocol of a dispatcher that starts jobs at the times recorded in a log."""

    def follow_record(self, waits: dict[int, int], log: str) -> RecordedStarts:
        """Adopt the wait times of a log by job number, which are filled in as it is read."""


@builtin("dispatcher", "reject")
class Reject:
    """Dispatcher: refuses every job: measures the simulator alone.

    It is like AccaSim's (thesis 2020, section 3.4).
    """

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Reject the whole queue."""
        return Decision(rejected=tuple(job.job_id for job in problem.queue))


@builtin("dispatcher", "recorded", RecordedParams, capabilities={FOLLOWS_RECORD})
class Recorded:
    """Dispatcher: the log's own schedule: each job starts when the log says that it did.

    A job starts at its recorded start, or as soon as it fits after that.

    Late jobs are considered in order of their due times, and jobs that fit pass those that do not:
    the start of one does not move those of the others.
    """

    @classmethod
    def build(cls, params: RecordedParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
        return cls(context.make("allocator", params.allocator), params.missing_start)

    def __init__(self, allocator: Allocator, missing_start: MissingStart = "error") -> None:
        self.allocator = allocator
        self._missing_start = missing_start
        self._rule: CoreRule | None = None

    def follow_record(self, waits: dict[int, int], log: str) -> RecordedStarts:
        """Adopt the wait times of a log."""
        starts = RecordedStarts(waits, log, self._missing_start)
        # Due times are known only once jobs are submitted, so the order looks them up.
        order = KeyOrder(lambda job: starts.due(job.job_id))
        self._rule = list_rule(order, "greedy", self.allocator)
        return starts

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the starts of the jobs that are due and fit."""
        if self._rule is None:
            message = "the dispatcher 'recorded' needs the log whose starts it follows"
            raise InputError(Finding("no-record", message))
        return self._rule.dispatch(problem)
