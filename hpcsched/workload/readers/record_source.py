"""Common part of sources that read a log record by record."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import Any, Protocol

from hpcsched._core import NumbersSeen, Verdict
from hpcsched.system.system import System
from hpcsched.workload.job import TimeBounds, TracedJob
from hpcsched.workload.readers.log_source import LogReader, LogSource, unusable
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.sorted_account import ReadJob
from hpcsched.workload.readers.text_files import TextEncoding


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
