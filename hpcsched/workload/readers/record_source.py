"""Common part of sources that read a log record by record and account for each record."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.numbers_seen import NumbersSeen
from hpcsched.workload.readers.policies import RecordPolicies, SetAsideError, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.sorted_account import Place as RecordPlace
from hpcsched.workload.readers.sorted_account import ReadJob, SortedAccount
from hpcsched.workload.readers.swf_lines import SwfLines
from hpcsched.workload.readers.text_encoding import TextEncoding
from hpcsched.workload.time_bounds import TimeBounds
from hpcsched.workload.trace_source import TraceAccount

Times = TypeVar("Times", int, IntArray)
"""Time of one record, or times of many."""


class Records(Protocol):
    """Reader of the records of a log, each with the number of its line or row."""

    @property
    def path(self) -> Path:
        """File of the log."""

    @property
    def comments(self) -> Sequence[str]:
        """Header comments read so far."""

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1."""

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and content of each record, from the first on.

        Raises
        ------
        InputError
            If the log cannot be read or is damaged.
        """


class RecordSource(ABC):
    """Trace source without the format of its records.

    Every record counts once in the account: submitted, or skipped for the first reason that
    applies. A reason is the name of a policy; or the kind of a record that is no job, in formats
    with other records; or `after_first_jobs` in a log that had to be sorted before its first jobs
    were known. Every record behind the last of these jobs has this reason, whatever it is: the
    other counts are those of the sorted log, read as far as that job. A record without a submit
    time has the place of the record before it.

    Parameters
    ----------
    policies
        The log and its policies.
    path
        The file.
    system
        The system that requests are expressed for.
    records
        The reader of the records; None: lines of the Standard Workload Format.
    encoding
        Encoding of the lines; None: as the policies say.

    Attributes
    ----------
    encoding
        Encoding of the lines.
    seconds
        Reader of times, with the policy for fractions.
    finished
        Whether the last job has been yielded.
    changes
        Clippings of the record that is being read, by name; `parse` adds to them.
    """

    uniform_request: tuple[int, ...] | None = None
    """The unit request of every job, where it is one and unconstrained."""

    def __init__(
        self,
        policies: RecordPolicies,
        path: Path,
        system: System,
        records: Records | None = None,
        encoding: TextEncoding | None = None,
    ) -> None:
        self.account = TraceAccount()
        self.system = system
        self.encoding = encoding or TextEncoding(policies.encoding, policies.undecodable)
        self.seconds = WholeSeconds(policies.fractional_seconds)
        self.lines: Records = SwfLines(path, self.encoding) if records is None else records
        self.finished = False
        self.changes: list[str] = []
        self._policies = policies
        self._seen = NumbersSeen()
        self._earliest = 0
        self._bounds = TimeBounds()
        self._waits: dict[int, int] | None = None
        self._submitted = 0  # the latest submit time that was read
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

    @abstractmethod
    def parse(self, line: Any) -> TracedJob:
        """Return the job of a record.

        Parameters
        ----------
        line
            A record as `lines` yields it: bytes of a line, unless `records` was given.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """

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
        job_id
            The job's number.
        wait
            Seconds; a negative number means not given.
        """
        if self._waits is not None and wait >= 0:
            self._waits[job_id] = wait

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs in order of submission.

        Raises
        ------
        InputError
            At the first record that a policy calls an error.
        """
        self._start()
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

    def _start(self) -> None:
        """Reset the account and all checks."""
        self.account = TraceAccount()
        self.finished = False
        self._seen, self._earliest, self._bounds = NumbersSeen(), 0, TimeBounds()
        self._submitted = 0
        first = self._policies.unsorted == "sort" and self._policies.jobs is not None
        self._sorted = SortedAccount() if first else None
        if self._waits is not None:
            self._waits.clear()

    def _count_record(self, kind: str, reason: str, place: RecordPlace) -> None:
        """Count a record: `kind` is the counter of the account, `skipped` or `clipped`."""
        if self._sorted is None:
            getattr(self.account, kind)[reason] += 1
        else:
            self._sorted.note(kind, reason, place)

    def _read(self) -> Iterator[ReadJob]:
        """Yield the usable jobs, in the order of the log."""
        account, sort = self.account, self._policies.unsorted == "sort"
        # The file is closed at an error, even while its traceback keeps this frame.
        with closing(self.lines.records()) as records:
            for number, line in records:
                account.read += 1
                try:
                    traced = self._parsed(line)
                except UnusableError as problem:
                    self._skip(problem, number, account.read)
                else:
                    if not sort:
                        self._earliest = traced.job.submit_time
                    submit_time = traced.job.submit_time
                    yield ReadJob(submit_time, account.read, traced, self.changes)

    def _parsed(self, line: Any) -> TracedJob:
        """Return the job of a record; `changes` has the policies that changed it.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """
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
            raise UnusableError("malformed", "expected a job number and a submit time, found -1")
        if not self._seen.add(job_id):
            raise UnusableError("malformed", f"job number {job_id} was seen before")
        self.check_order(submit_time)

    def note_submission(self, submit_time: int) -> None:
        """Record the submit time of the present record, which is its place in a sorted log."""
        self._submitted = submit_time

    def check_order(self, submit_time: int) -> None:
        """Raise UnusableError for a submit time before the previous job's."""
        if submit_time < self._earliest:
            raise UnusableError(
                "unsorted",
                f"expected a submit time of at least {self._earliest}, as the job before has,"
                f" found {submit_time}",
            )

    def check_run_time(self, run_time: int) -> None:
        """Raise UnusableError for a missing run time, or 0 if the policy skips such jobs."""
        if run_time < 0:
            raise UnusableError("missing_run_time", "no run time is given")
        if run_time == 0 and self._policies.zero_run_time == "skip":
            raise UnusableError("zero_run_time", "the run time is 0")

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
        stand_in = self.stand_in_for_requested_time(run_time)
        if stand_in is None:
            raise UnusableError("missing_requested_time", "no requested time is given")
        return stand_in

    def stand_in_for_requested_time(self, run_time: Times) -> Times | int | None:
        """Return the policy's replacement for missing requested times; None if there is none."""
        policy = self._policies.missing_requested_time
        if isinstance(policy, int):
            return policy
        return run_time if policy == "run_time" else None

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
        units
            Number of units.
        room
            Number of such units that fit on the idle system.
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

    @property
    def clips(self) -> bool:
        """True if run times are cut to the requested time."""
        return self._policies.over_requested_time == "clip"

    def clipped(self, run_time: int, requested_time: int) -> int:
        """Return the run time, cut to the requested time if the policy says so.

        Parameters
        ----------
        run_time
            Seconds.
        requested_time
            Seconds.
        """
        if run_time > requested_time and self.clips:
            self.changes.append("over_requested_time")
            return requested_time
        return run_time

    def _skip(self, problem: UnusableError, number: int, record: int) -> None:
        """Count a record that gives no job.

        Parameters
        ----------
        problem
            Why it gives none.
        number
            Number of its line or row.
        record
            Position among all records, from 1.

        Raises
        ------
        InputError
            If the policy calls the record an error.
        """
        reason = problem.reason
        # The reason is the policy's field name: a new policy needs no table of reasons.
        policy = getattr(self._policies, reason, None)
        if policy in (None, "error") and not isinstance(problem, SetAsideError):
            hint = f"; the policy {reason!r} of the trace source says what else to do"
            raise InputError(
                Finding(
                    reason.replace("_", "-"),
                    f"{problem}{hint if policy else ''}",
                    Place(str(self.lines.path), number),
                )
            )
        if reason == "malformed":
            self.account.note_fault(f"{self.lines.path.name}:{number}", str(problem))
        self._count_record("skipped", reason, (self._submitted, record))
