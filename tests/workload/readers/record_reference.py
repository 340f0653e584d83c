"""Reference: a source that reads a log record by record, and applies the policies in Python."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hpcsched._core import NumbersSeen, Verdict
from hpcsched.errors import Finding, InputError
from hpcsched.errors import Place as FilePlace
from hpcsched.system.system import System
from hpcsched.workload.job import TimeBounds, TracedJob
from hpcsched.workload.readers.log_source import REASONS, LogReader
from hpcsched.workload.readers.policies import RecordPolicies, SetAsideError, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.text_files import TextEncoding
from hpcsched.workload.trace_source import TraceAccount

Place = tuple[int, int]
"""Place of a record in the sorted log: its submit time, and its position in the log, from 1."""


class ReadJob(NamedTuple):
    """A job of a log, with its place first, so that jobs sort by it."""

    submit_time: int
    record: int
    traced: TracedJob
    changes: Sequence[str]

    @property
    def place(self) -> Place:
        """Place in the sorted log."""
        return self.submit_time, self.record


class SortedAccount:
    """Counts of the records up to the last of the first jobs; those behind it count as one thing.

    Attributes
    ----------
    last
        A place behind which there are none of the first jobs; None: not known yet.
    """

    def __init__(self) -> None:
        self.last: Place | None = None
        self._noted: list[tuple[Place, str]] = []

    def note(self, reason: str, place: Place) -> None:
        """Note a record without a job, unless the record is known to be behind the first jobs."""
        if self._holds(place):
            self._noted.append((place, reason))

    def first_jobs(self, jobs: Iterable[ReadJob], limit: int) -> list[ReadJob]:
        """Return the first jobs in order of submission, and hold no others in memory."""
        first: list[tuple[int, int, ReadJob]] = []  # a heap, the latest job on top
        for read in jobs:
            item = -read.submit_time, -read.record, read
            if len(first) < limit:
                heapq.heappush(first, item)
            else:
                heapq.heappushpop(first, item)
            if len(first) == limit:
                self.last = first[0][2].place
        return sorted(read for _, _, read in first)

    def complete(self, account: TraceAccount, jobs: int) -> None:
        """Add what was noted to an account, once `last` is known."""
        for place, reason in self._noted:
            if self._holds(place):
                account.skipped[reason] += 1
        left = account.read - account.skipped.total() - jobs
        if left:
            account.skipped["after_first_jobs"] = left

    def _holds(self, place: Place) -> bool:
        return self.last is None or place <= self.last


def unusable(verdict: Verdict, **found: int) -> UnusableError:
    """Return the error of a record by its verdict; `found` are the numbers that the message has."""
    reason, message = REASONS[verdict]
    return UnusableError(reason, message.format(**found))


class LogSource:
    """Trace source without the format of its log, and without the way it is read.

    Every record counts once in the account: submitted, or skipped for the first reason that
    applies. A reason is the name of a policy; or the kind of a record that is no job, in formats
    with other records; or `after_first_jobs` in a log that had to be sorted before its first jobs
    were known. Every record behind the last of these jobs has this reason, whatever it is: the
    other counts are those of the sorted log, read as far as that job. A record without a submit
    time has the place of the record before it.

    Attributes
    ----------
    seconds
        Reader of times, with the policy for fractions.
    finished
        Whether the last job has been yielded.
    """

    uniform_request: tuple[int, ...] | None = None
    """The unit request of every job, where it is one and unconstrained."""

    def __init__(
        self,
        policies: RecordPolicies,
        system: System,
        lines: LogReader,
        encoding: TextEncoding,
    ) -> None:
        self.account = TraceAccount()
        self.system = system
        self.encoding = encoding
        self.seconds = WholeSeconds(policies.fractional_seconds)
        self.lines = lines
        self.finished = False
        self._policies = policies
        self._waits: dict[int, int] | None = None
        self._sorted: SortedAccount | None = None  # only if the first jobs follow from sorting

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the log."""
        return self.lines.comments

    @property
    def files(self) -> Sequence[Path]:
        """Files of the log."""
        return [self.lines.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1; 1 if no more of it is needed."""
        return 1.0 if self.finished else self.lines.fraction_read

    def keep_waits(self) -> dict[int, int]:
        """Return the mapping of recorded wait times; see `RecordsWaits`."""
        if self._waits is None:
            self._waits = {}
        return self._waits

    @property
    def keeps_waits(self) -> bool:
        """True if recorded wait times were requested."""
        return self._waits is not None

    def note_wait(self, job_id: int, wait: int) -> None:
        """Record the wait time of a job if wait times were requested.

        Parameters
        ----------
        wait
            Seconds; a negative number means not given.
        """
        if self._waits is not None and wait >= 0:
            self._waits[job_id] = wait

    def _start(self) -> None:
        """Reset the account and all checks."""
        self.account = TraceAccount()
        self.finished = False
        first = self._policies.unsorted == "sort" and self._policies.jobs is not None
        self._sorted = SortedAccount() if first else None
        if self._waits is not None:
            self._waits.clear()

    def _count_skipped(self, reason: str, place: Place) -> None:
        """Count a record that gives no job."""
        if self._sorted is None:
            self.account.skipped[reason] += 1
        else:
            self._sorted.note(reason, place)

    def _is_error(self, problem: UnusableError) -> bool:
        """Return whether the policy calls a record an error."""
        # The reason is the policy's field name: a new policy needs no table of reasons.
        policy = getattr(self._policies, problem.reason, None)
        return policy in (None, "error") and not isinstance(problem, SetAsideError)

    def check_room(
        self,
        units: int,
        room: int,
        amounts: Mapping[str, int],
        allowed: frozenset[int] | None = None,
    ) -> None:
        """Raise UnusableError if a job's units do not fit on the idle system.

        Parameters
        ----------
        amounts
            Declared amounts of a unit.
        allowed
            Numbers of the nodes that it may use; None: all.
        """
        if units <= room:
            return
        if room == 0 and self.system.loses(amounts, allowed):
            raise UnusableError(
                "lost_to_units",
                "a node could hold what a unit asks for, but not once it is counted in the units"
                " that the system declares; expected smaller units",
            )
        raise UnusableError(
            "larger_than_system", f"{units} units are requested, and at most {room} fit"
        )

    def _skip(self, problem: UnusableError, number: int, place: Place) -> None:
        """Count a record that gives no job."""
        reason = problem.reason
        if self._is_error(problem):
            hint = f"; the policy {reason!r} of the trace source says what else to do"
            raise InputError(
                Finding(
                    reason.replace("_", "-"),
                    f"{problem}{hint if hasattr(self._policies, reason) else ''}",
                    FilePlace(str(self.lines.path), number),
                )
            )
        if reason == "malformed":
            self.account.note_fault(f"{self.lines.path.name}:{number}", str(problem))
        self._count_skipped(reason, place)


class Records(LogReader, Protocol):
    """Reader of the records of a log, each with the number of its line or row."""

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and content of each record, from the first on.

        Raises
        ------
        InputError
            If the log cannot be read or is damaged.
        """


class RecordSource(LogSource, ABC):
    """Trace source without the format of its records.

    Attributes
    ----------
    changes
        Clippings of the record that is being read, by name; `parse` adds to them.
    """

    def __init__(
        self,
        policies: RecordPolicies,
        system: System,
        records: Records,
        encoding: TextEncoding,
    ) -> None:
        super().__init__(policies, system, records, encoding)
        self.changes: list[str] = []
        self._records = records
        self._seen = NumbersSeen()
        self._earliest = 0
        self._bounds = TimeBounds()
        self._submitted = 0  # the latest submit time that was read

    @abstractmethod
    def parse(self, line: Any) -> TracedJob:
        """Return the job of a record.

        Parameters
        ----------
        line
            A record as `records` yields it, such as bytes of a line.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs in order of submission.

        Raises
        ------
        InputError
            At the first record that a policy calls an error.
        """
        self._start()
        self._seen, self._earliest, self._bounds = NumbersSeen(), 0, TimeBounds()
        self._submitted = 0
        jobs, limit = self._read(), self._policies.jobs
        if self._policies.unsorted == "sort":
            if self._sorted is None or limit is None:
                jobs = iter(sorted(jobs))
            else:
                first = self._sorted.first_jobs(jobs, limit)
                self._sorted.complete(self.account, len(first))
                jobs = iter(first)
        for _, _, traced, changes in islice(jobs, limit):
            self.account.submitted += 1
            self.account.clipped.update(changes)
            yield traced
        self.finished = True

    def _read(self) -> Iterator[ReadJob]:
        """Yield the usable jobs, in the order of the log."""
        account, sort = self.account, self._policies.unsorted == "sort"
        # The file is closed at an error, even while its traceback keeps this frame.
        with closing(self._records.records()) as records:
            for number, line in records:
                account.read += 1
                try:
                    traced = self._parsed(line)
                except UnusableError as problem:
                    self._skip(problem, number, (self._submitted, account.read))
                else:
                    if not sort:
                        self._earliest = traced.job.submit_time
                    submit_time = traced.job.submit_time
                    yield ReadJob(submit_time, account.read, traced, self.changes)

    def _parsed(self, line: Any) -> TracedJob:
        """Return the job of a record; `changes` has the policies that changed it."""
        self.encoding.replaced = self.seconds.rounded = False
        self.changes = []
        if isinstance(line, bytes):
            line = self.encoding.utf8(line)
        traced = self.parse(line)
        try:
            self._bounds.check(traced)
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None
        if self.encoding.replaced:
            self.changes.append("undecodable")
        if self.seconds.rounded:
            self.changes.append("fractional_seconds")
        return traced

    def check_submission(self, job_id: int, submit_time: int) -> None:
        """Raise UnusableError for a missing or repeated number, or a submit time out of order.

        Parameters
        ----------
        job_id
            The job's number; negative if missing.
        submit_time
            Submit time in seconds; negative if missing.
        """
        if submit_time >= 0:
            self.note_submission(submit_time)
        if job_id < 0 or submit_time < 0:
            raise unusable(Verdict.NO_NUMBER)
        if not self._seen.add(job_id):
            raise unusable(Verdict.REPEATED_NUMBER, job_id=job_id)
        self.check_order(submit_time)

    def note_submission(self, submit_time: int) -> None:
        """Record the submit time of the present record, which is its place in a sorted log."""
        self._submitted = submit_time

    def check_order(self, submit_time: int) -> None:
        """Raise UnusableError for a submit time before the previous job's."""
        if submit_time < self._earliest:
            raise unusable(Verdict.UNSORTED, earliest=self._earliest, submit_time=submit_time)

    def check_run_time(self, run_time: int) -> None:
        """Raise UnusableError for a missing run time, or 0 if the policy skips such jobs."""
        if run_time < 0:
            raise unusable(Verdict.MISSING_RUN_TIME)
        if run_time == 0 and self._policies.zero_run_time == "skip":
            raise unusable(Verdict.ZERO_RUN_TIME)

    def requested_time(self, requested_time: int, run_time: int) -> int:
        """Return the requested time, or the policy's replacement for a missing one.

        Parameters
        ----------
        requested_time
            Seconds; at most 0 if missing.
        run_time
            The job's run time in seconds.

        Raises
        ------
        UnusableError
            If it is missing and the policy replaces nothing.
        """
        if requested_time > 0:
            return requested_time
        policy = self._policies.missing_requested_time
        if isinstance(policy, int):
            return policy
        if policy == "run_time":
            return run_time
        raise unusable(Verdict.MISSING_REQUESTED_TIME)

    def clipped(self, run_time: int, requested_time: int) -> int:
        """Return the run time, cut to the requested time if the policy says so.

        Parameters
        ----------
        run_time
            Seconds.
        requested_time
            Seconds.
        """
        if run_time > requested_time and self._policies.over_requested_time == "clip":
            self.changes.append("over_requested_time")
            return requested_time
        return run_time
