"""Common part of sources that read a log as columns of jobs.

The core reads the numbers of whole blocks of lines, and applies the policies to their columns. Only
a line with something else than digits is read by itself.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched._core import RecordChecks, Verdict, scan_lines
from hpcsched.errors import InputError
from hpcsched.parameters import LARGEST
from hpcsched.system.system import IntArray, System
from hpcsched.workload import job as jobs_read
from hpcsched.workload.job import LONGEST, TracedJob, time_fault
from hpcsched.workload.readers.log_source import REASONS, LogSource, unusable
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.scanned_lines import Lines, ScannedLines, VerdictArray
from hpcsched.workload.readers.sorted_account import Place
from hpcsched.workload.readers.swf_lines import SwfLines, wait_time
from hpcsched.workload.readers.text_files import TextEncoding

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns, RequestNumbers


class _Batch(NamedTuple):
    """Jobs, the numbers of their records, and that of the last record read for them."""

    columns: "JobColumns"
    records: IntArray
    last: int


class _Skipped(NamedTuple):
    """A record that gives no job: why, the number of its line, and its place in the sorted log."""

    record: int
    reason: str
    problem: UnusableError | None
    line: int
    place: Place


class ColumnSource(LogSource, ABC):
    """Source that reads many lines at once."""

    field_count: int
    """Number of fields of a line."""

    number_count: int
    """Number of its first fields in which a `_` is an error."""

    fields_read: Sequence[int]
    """Fields that are read as numbers, from 0, `[F]`."""

    def __init__(
        self, policies: RecordPolicies, system: System, lines: SwfLines, encoding: TextEncoding
    ) -> None:
        super().__init__(policies, system, lines, encoding)
        self._swf_lines = lines

    @abstractmethod
    def odd_numbers(self, line: bytes) -> Sequence[int]:
        """Return the numbers of a line that has others than digits, or the first of them.

        Raises
        ------
        UnusableError
            If the line is no record.
        """

    @abstractmethod
    def scan(self, lines: Lines) -> ScannedLines:
        """Return lines as columns.

        Lines without processors have verdict `MISSING_PROCESSORS`, and requests that give no job
        have a fault. The caller may change the arrays.
        """

    def finish(self, lines: Lines, scanned: ScannedLines, rows: IntArray) -> None:
        """Complete values that depend on the lines that give jobs; does nothing by default.

        Parameters
        ----------
        lines
            The lines, `[L]`.
        rows
            Indices of the lines that give jobs, ascending.
        """

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs in order of submission.

        Raises
        ------
        InputError
            At the first record that a policy calls an error.
        """
        from hpcsched.workload.job_batches import RequestNumbers, records_of  # noqa: PLC0415

        # Counted job by job: whoever takes the first ones only has the account of these.
        for columns, records, last in self._batches(RequestNumbers()):
            for record, traced in zip(records.tolist(), records_of([columns]), strict=True):
                self._count_lines(record)
                self.account.submitted += 1
                self.account.clipped.update(self._changes.pop(record, ()))
                yield traced
            self._count_lines(last)
        self.finished = True

    def job_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the jobs as columns, in batches.

        Raises
        ------
        InputError
            As in `jobs`, after the jobs before the error.
        """
        for columns, records, last in self._batches(numbers):
            fault = None
            try:
                self._count_lines(last)
            except InputError as error:
                fault = error
            self.account.submitted += len(records)
            for record in self._changes.keys() & set(records.tolist() if self._changes else ()):
                self.account.clipped.update(self._changes.pop(record))
            if len(records):
                yield columns
            if fault is not None:
                raise fault
        self.finished = True

    def linked(self, columns: "JobColumns", records: IntArray) -> "JobColumns":
        """Return jobs in order of submission, as they depend on those before; unchanged by default.

        Parameters
        ----------
        records
            Numbers of their records, from 1.
        """
        return columns

    def _batches(self, numbers: "RequestNumbers") -> "Iterator[_Batch]":
        """Yield the jobs in order of submission; nothing of them has been counted."""
        from hpcsched.workload.job_batches import numbered  # noqa: PLC0415

        self._start()
        self._submitted = 0
        self._read = 0
        self._skipped: deque[_Skipped] = deque()
        self._changes: dict[int, list[str]] = {}
        policies = self._policies
        stand_in = policies.missing_requested_time
        sort = policies.unsorted == "sort"
        self._checks = RecordChecks(
            sorts=sort,
            skips_zero_run_time=policies.zero_run_time == "skip",
            clips=policies.over_requested_time == "clip",
            missing_requested_time=(
                stand_in if isinstance(stand_in, int) else 0 if stand_in == "run_time" else None
            ),
            longest=LONGEST,
            largest_sum=jobs_read.LARGEST_SUM,
        )
        # Few of the others are found in a log, and a message is made of each.
        self._without_message = [
            verdict
            for verdict, (reason, _) in REASONS.items()
            if reason != "malformed" and getattr(policies, reason, None) == "skip"
        ]
        batches = self._sorted_jobs() if sort else self._read_blocks(numbers)
        for columns, records, last in batches:
            request = numbered(columns.request, columns.requests, numbers)
            ours = columns._replace(request=request, requests=numbers.requests)
            yield _Batch(self.linked(ours if sort else columns, records), records, last)

    def _count_lines(self, last: int) -> None:
        """Count the records up to the `last`, from 1; raises InputError at the error of one."""
        while self._skipped and self._skipped[0].record <= last:
            record, reason, problem, line, place = self._skipped.popleft()
            self.account.read = record
            if problem is None:
                self._count_skipped(reason, place)
            else:
                self._skip(problem, line, place)
        self.account.read = max(self.account.read, last)

    def _sorted_jobs(self) -> "Iterator[_Batch]":
        """Yield the jobs of the whole log in order of submission."""
        from hpcsched.workload.job_batches import (  # noqa: PLC0415
            BATCH,
            NO_JOBS,
            RequestNumbers,
            joined_columns,
        )

        batches = []
        for batch in self._read_blocks(RequestNumbers()):
            self._count_lines(batch.last)
            batches.append(batch)
        whole = joined_columns([NO_JOBS, *(batch.columns for batch in batches)])
        records = np.concatenate([NO_JOBS.job_id, *(batch.records for batch in batches)])
        order = np.argsort(whole.submit_time, kind="stable")[: self._policies.jobs]
        if self._sorted is not None:
            if len(order) == self._policies.jobs:
                last = order[-1]
                self._sorted.last = int(whole.submit_time[last]), int(records[last])
            self._sorted.complete(self.account, len(order))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            yield _Batch(whole.take(rows), records[rows], self._read)

    def _read_blocks(self, numbers: "RequestNumbers") -> "Iterator[_Batch]":
        """Yield the usable jobs, in the order of the log."""
        left = None if self._policies.unsorted == "sort" else self._policies.jobs
        used = np.array(self.fields_read, dtype=np.int64)
        # The file is closed at an error, even while its traceback keeps this frame.
        with closing(self._swf_lines.blocks()) as blocks:
            for first, text in blocks:
                found, plain, begins, ends, line = scan_lines(
                    text, self.field_count, self.number_count, used, LARGEST
                )
                verdicts = np.full(len(line), Verdict.JOB, dtype=np.int8)
                lines = Lines(text, begins, ends, first + line, found, verdicts)
                self._read_odd(lines, np.flatnonzero(plain == 0).tolist())
                scanned = self.scan(lines)
                rows = self._taken(lines, scanned, left)
                records = self._read + 1 + rows
                end = len(line)
                if left is not None and len(rows) == left:
                    end = int(rows[-1]) + 1
                self._read += end
                self.finish(lines, scanned, rows)
                if self.keeps_waits:
                    for k in rows.tolist():
                        self.note_wait(int(scanned.job_id[k]), wait_time(lines[k]))
                yield _Batch(scanned.columns(rows, numbers), records, self._read)
                left = left if left is None else left - len(rows)
                if left == 0:
                    return

    def _read_odd(self, lines: Lines, odd: Sequence[int]) -> None:
        """Read lines by themselves that have other fields than plain numbers."""
        for k in odd:
            self.encoding.replaced = self.seconds.rounded = False
            try:
                lines.odd[k] = line = self.encoding.utf8(lines[k])
                numbers = self.odd_numbers(line)
                lines.numbers[: len(numbers), k] = np.maximum(numbers, -1)
            except UnusableError as problem:
                lines.refuse(k, problem, Verdict.NO_RECORD)
            lines.changes[k] = [
                *["undecodable"] * self.encoding.replaced,
                *["fractional_seconds"] * self.seconds.rounded,
            ]

    def _taken(self, lines: Lines, scanned: ScannedLines, most: int | None) -> IntArray:
        """Apply the policies to each line; return those that give a job, `most` at most."""
        verdicts = lines.verdicts
        refused = np.array([one.fault is not None for one in scanned.requests], dtype=np.bool_)
        if refused.any():
            of_line = (scanned.request >= 0) & refused[scanned.request]
            verdicts[of_line & (verdicts == Verdict.JOB)] = Verdict.REFUSED_REQUEST
        earliest, lasting = self._checks.earliest, self._checks.sum
        cut = np.zeros(len(verdicts), dtype=np.bool_)
        self._checks.check(
            scanned.job_id,
            scanned.submit_time,
            scanned.run_time,
            scanned.requested_time,
            scanned.think_time,
            verdicts,
            cut,
        )
        rows = np.flatnonzero(verdicts == Verdict.JOB)[:most]
        end = int(rows[-1]) + 1 if len(rows) == most else len(verdicts)
        silent = np.isin(verdicts, self._without_message).tolist()
        for k in np.flatnonzero(verdicts[:end] != Verdict.JOB).tolist():
            reason, problem = "", None
            if silent[k]:
                reason, _ = REASONS[Verdict(int(verdicts[k]))]
            else:
                before = rows[: np.searchsorted(rows, k)]
                problem = self._problem(
                    k, lines, scanned, before, earliest=earliest, lasting=lasting
                )
            place = (0, 0) if self._sorted is None else self._place(k, verdicts, scanned)
            self._skipped.append(
                _Skipped(self._read + 1 + k, reason, problem, int(lines.line[k]), place)
            )
            if problem is not None and self._is_error(problem):
                rows = before
                break
        self._note_changes(lines, scanned, rows, cut)
        if len(verdicts):
            self._submitted, _ = self._place(len(verdicts) - 1, verdicts, scanned)
        return rows

    def _problem(
        self,
        k: int,
        lines: Lines,
        scanned: ScannedLines,
        before: IntArray,
        *,
        earliest: int,
        lasting: int,
    ) -> UnusableError:
        """Return why line `k` gives no job."""
        verdict = Verdict(int(lines.verdicts[k]))
        submit_time = int(scanned.submit_time[k])
        if k in lines.faults:
            return lines.faults[k]
        if verdict == Verdict.REFUSED_REQUEST:
            fault = scanned.requests[int(scanned.request[k])].fault
            assert fault is not None  # as the verdict says
            return fault
        if verdict == Verdict.TOO_LONG:
            times = scanned.run_time, scanned.requested_time
            lasting += int((np.maximum(*times) + scanned.think_time)[before].sum())
            run_time, requested_time, think_time = (
                int(column[k]) for column in (*times, scanned.think_time)
            )
            fault_of_times = time_fault(submit_time, run_time, requested_time, think_time, lasting)
            return UnusableError("malformed", str(fault_of_times))
        if len(before):
            earliest = int(scanned.submit_time[before[-1]])
        job_id = int(scanned.job_id[k])
        return unusable(verdict, job_id=job_id, submit_time=submit_time, earliest=earliest)

    def _place(self, k: int, verdicts: VerdictArray, scanned: ScannedLines) -> Place:
        """Return the place of a line in the sorted log: without a time, that of the line before."""
        record = self._read + 1 + k
        while k >= 0 and (verdicts[k] == Verdict.NO_RECORD or scanned.submit_time[k] < 0):
            k -= 1
        return self._submitted if k < 0 else int(scanned.submit_time[k]), record

    def _note_changes(
        self, lines: Lines, scanned: ScannedLines, rows: IntArray, cut: npt.NDArray[np.bool_]
    ) -> None:
        """Note the clippings of jobs."""
        changes = [(k, ["over_requested_time"]) for k in rows[cut[rows]].tolist()]
        taken = set(rows.tolist()) if lines.changes else set()
        changes += [(k, found) for k, found in lines.changes.items() if found and k in taken]
        if any(one.changes for one in scanned.requests):
            requests = [scanned.requests[number] for number in scanned.request[rows].tolist()]
            of_lines = zip(rows.tolist(), requests, strict=True)
            changes += [(k, list(request.changes)) for k, request in of_lines if request.changes]
        for k, found in changes:
            for change in found:
                self.note_change(self._read + 1 + k, change)

    def note_change(self, record: int, change: str) -> None:
        """Note a clipping of a job, which counts once the job is yielded."""
        self._changes.setdefault(record, []).append(change)
