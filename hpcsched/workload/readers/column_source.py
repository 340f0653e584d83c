"""Common part of sources that read a log as columns of jobs.

A format reads whole batches of lines as columns (`scan`). A line is plain if all of its fields are
regular and no policy removes it. Plain lines become jobs together. Every other line goes through
`parse`, in its turn, so that each policy, reason and message has one owner, and columns and records
of a log are the same jobs with the same account.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from hpcsched.errors import InputError
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_columns import NUMBERED
from hpcsched.workload.readers.number_fields import BoolArray
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.record_source import RecordSource
from hpcsched.workload.time_bounds import LONGEST

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns, RequestNumbers


@dataclass(slots=True)
class ScannedLines:
    """Lines of a log as columns, `[L]`, times in seconds.

    Attributes
    ----------
    plain : array of bool
        Which lines are records that give a job, as far as the format alone can tell.
    job_id, submit_time : array of int
        As `parse` would read them, of every line in which it would find both.
    run_time, requested_time : array of int
        As the log gives them; -1 where it does not.
    units : array of int
        The units of each plain line; they fit on the idle system.
    request : array of int
        The unit request of each plain line, as an index of `requests`.
    requests : list of Request
        Requests with these unit requests, of any units.
    details : array of int, `[5, L]`
        Numbers of user, group, application, queue and partition; -1 where they are not given.
    names : list of str or None
        The names of the jobs, None where one has none; empty where no job has a name.
    """

    plain: BoolArray
    job_id: IntArray
    submit_time: IntArray
    run_time: IntArray
    requested_time: IntArray
    units: IntArray
    request: IntArray
    requests: list[Request]
    details: IntArray
    names: list[str | None]

    def put(self, k: int, traced: TracedJob) -> None:
        """Replace the columns of line `k` by a job that `parse` returned."""
        job, self.run_time[k] = traced
        self.job_id[k], self.submit_time[k] = job.job_id, job.submit_time
        self.requested_time[k], self.units[k] = job.requested_time, job.units
        self.request[k] = len(self.requests)
        self.requests.append(job.request)
        told = [getattr(job, name) for name in NUMBERED]
        self.details[:, k] = [-1 if number is None else number for number in told]
        if self.names:
            self.names[k] = job.name

    def columns(self, rows: IntArray, numbers: "RequestNumbers") -> "JobColumns":
        """Return the jobs of some of the lines.

        Parameters
        ----------
        rows
            Indices of the lines.
        numbers
            Numbering of the unit requests of the whole trace.
        """
        # Here and below: it takes its time, and to check a scenario needs no columns.
        import pyarrow as pa  # noqa: PLC0415

        from hpcsched.arrow_arrays import arrow_array, python_array  # noqa: PLC0415
        from hpcsched.workload.job_batches import DETAILS, JobColumns, numbered  # noqa: PLC0415

        details = self.details[:, rows]
        names = pa.nulls(len(rows), pa.string())
        if self.names:
            names = python_array([self.names[k] for k in rows], pa.string())
        untold = [pa.nulls(len(rows), field.type) for field in DETAILS]
        untold[DETAILS.get_field_index("think_time")] = arrow_array(np.zeros_like(rows))
        return JobColumns(
            self.job_id[rows],
            self.submit_time[rows],
            self.run_time[rows],
            self.requested_time[rows],
            self.units[rows],
            numbered(self.request[rows], self.requests, numbers),
            numbers.requests,
            pa.RecordBatch.from_arrays(
                [
                    *(arrow_array(row, row < 0) for row in details),
                    names,
                    *untold[len(details) + 1 :],
                ],
                schema=DETAILS,
            ),
        )


def read_odd_lines(
    lines: Sequence[bytes],
    odd: BoolArray,
    numbers: IntArray,
    read: Callable[[bytes], Sequence[int]],
) -> None:
    """Write the numbers of odd lines as `parse` would read them, or -1 where it would read none.

    Parameters
    ----------
    lines : sequence of bytes
        The lines, `[L]`.
    odd : array of bool, `[L]`
        Which of them are odd.
    numbers : array of int, `[F, L]`
        Is changed; a number that is not given is -1.
    read : function of bytes
        Returns the numbers of a line; raises UnusableError if there are none.
    """
    for k in np.flatnonzero(odd).tolist():
        try:
            found = read(lines[k])
        except UnusableError:
            found = [-1]
        numbers[: len(found), k] = [max(number, -1) for number in found]


class ColumnSource(RecordSource):
    """Source that can read many lines at once."""

    @abstractmethod
    def scan(self, lines: Sequence[bytes]) -> ScannedLines:
        """Return lines as columns; the caller may change the arrays."""

    def finish(self, lines: Sequence[bytes], scanned: ScannedLines, rows: IntArray) -> None:
        """Complete values that depend on the lines that give jobs; does nothing by default.

        Parameters
        ----------
        lines
            The lines, `[L]`.
        scanned
            Their columns, which are changed.
        rows
            Indices of the lines that give jobs, ascending.
        """

    def job_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the jobs as columns, in batches.

        Raises
        ------
        InputError
            As in `jobs`, after the jobs before the error.
        """
        self._start()
        self._records: list[IntArray] = []
        sort = self._policies.unsorted == "sort"
        for batch in self._sorted_columns(numbers) if sort else self._read_columns(numbers):
            self.account.submitted += len(batch.job_id)
            yield batch
        self.finished = True

    def _sorted_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the jobs of the whole log in order of submission."""
        from hpcsched.workload.job_batches import (  # noqa: PLC0415
            BATCH,
            RequestNumbers,
            joined_columns,
            numbered,
        )

        try:
            batches = list(self._read_columns(RequestNumbers()))
        except InputError:
            self.account.clipped.clear()  # no job has been yielded
            raise
        if not batches:
            if self._sorted is not None:
                self._sorted.complete(self.account, 0)
            return
        whole = joined_columns(batches)
        order, limit = np.argsort(whole.submit_time, kind="stable"), self._policies.jobs
        if self._sorted is not None:
            order = order[:limit]
            if len(order) == limit:
                last = order[-1]
                record = int(np.concatenate(self._records)[last])
                self._sorted.last = int(whole.submit_time[last]), record
            self._sorted.complete(self.account, len(order))
        for first in range(0, len(order), BATCH):
            batch = whole.take(order[first : first + BATCH])
            request = numbered(batch.request, batch.requests, numbers)
            yield batch._replace(request=request, requests=numbers.requests)

    def _read_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the usable jobs, in the order of the log."""
        # The file is closed at an error, even while its traceback keeps this frame.
        with closing(self.lines.records()) as records:
            yield from self._batches_of(records, numbers)

    def _batches_of(
        self, records: "Iterator[tuple[int, bytes]]", numbers: "RequestNumbers"
    ) -> "Iterator[JobColumns]":
        """Yield the usable jobs of the records; see `_read_columns`."""
        from hpcsched.workload.job_batches import BATCH  # noqa: PLC0415

        left = None if self._policies.unsorted == "sort" else self._policies.jobs
        damage: InputError | None = None
        while left != 0 and damage is None:
            held: list[tuple[int, bytes]] = []
            try:
                held.extend(islice(records, BATCH))
            except InputError as error:  # the lines before it still count
                damage = error
            if not held and damage is None:
                return
            if held:
                lines, doubtful = self._decoded([line for _, line in held])
                scanned = self.scan(lines)
                scanned.plain[doubtful] = False
                before = self.account.read
                rows, fault = self._taken(held, scanned, left)
                if self._sorted is not None:
                    self._records.append(before + 1 + rows)
                if len(rows):
                    self.finish(lines, scanned, rows)
                    yield scanned.columns(rows, numbers)
                if fault is not None:
                    raise fault
                left = left if left is None else left - len(rows)
        if damage is not None and left != 0:
            raise damage

    def _decoded(self, lines: list[bytes]) -> tuple[list[bytes], list[int]]:
        """Return lines in UTF-8, and the indices of those with undecodable bytes."""
        doubtful = []
        for k, line in enumerate(lines):
            if line.isascii():
                continue
            self.encoding.replaced = False
            try:
                lines[k] = self.encoding.utf8(line)
            except UnusableError:  # `_parsed` raises it again, in the line's turn
                doubtful.append(k)
            if self.encoding.replaced:
                doubtful.append(k)
        return lines, doubtful

    def _taken(
        self, held: Sequence[tuple[int, bytes]], scanned: ScannedLines, most: int | None
    ) -> tuple[IntArray, InputError | None]:
        """Apply the policies to each line, up to `most` jobs or the first error.

        Returns
        -------
        tuple
            Indices of the lines that give a job, and the error or None.
        """
        sort = self._policies.unsorted == "sort"
        over = self._stand_in(scanned)
        plain = self._plain(scanned)
        self._seen.add_all(scanned.job_id[plain])
        self._bounds.add(int(_lasting(scanned)[plain].sum()))
        before = np.cumsum(plain)
        # Running maximum of the plain lines: the order check of each other line needs it.
        latest = np.maximum.accumulate(np.where(plain, scanned.submit_time, 0))
        taken, fault, end, others = plain.copy(), None, len(held), 0
        for k in np.flatnonzero(~plain).tolist():
            if most is not None and before[k] + others >= most:
                break
            if not sort:
                self._earliest = max(self._earliest, int(latest[k]))
            number, line = held[k]
            self._follow(scanned, plain, k)
            record = self.account.read + 1 + k
            try:
                traced = self._parsed(line)
            except UnusableError as problem:
                try:
                    self._skip(problem, number, record)
                except InputError as error:
                    fault, end = error, k + 1
                    break
            else:
                scanned.put(k, traced)
                self._count_changes(traced.job.submit_time, record)
                taken[k] = True
                others += 1
                if not sort:
                    self._earliest = traced.job.submit_time
        rows = np.flatnonzero(taken[:end])
        if most is not None and len(rows) >= most:
            rows = rows[:most]
            end = int(rows[-1]) + 1
        if not sort and end:
            self._earliest = max(self._earliest, int(latest[end - 1]))
        self._follow(scanned, plain, end)
        self._count_cut(np.flatnonzero((over & plain)[:end]), scanned)
        self.account.read += end
        return rows, fault

    def _follow(self, scanned: ScannedLines, plain: BoolArray, k: int) -> None:
        """Note the submission of the line before line `k`, unless `parse` did."""
        if k and plain[k - 1]:
            self.note_submission(int(scanned.submit_time[k - 1]))

    def _count_changes(self, submit_time: int, record: int) -> None:
        """Count the clippings of a job that `parse` returned."""
        for change in self.changes:
            self._count_record("clipped", change, (submit_time, record))

    def _count_cut(self, rows: IntArray, scanned: ScannedLines) -> None:
        """Count the plain lines whose run times were cut."""
        if self._sorted is None:
            self.account.clipped += Counter({"over_requested_time": len(rows)})
            return
        for k in rows.tolist():
            place = int(scanned.submit_time[k]), self.account.read + 1 + k
            self._count_record("clipped", "over_requested_time", place)

    def _stand_in(self, scanned: ScannedLines) -> BoolArray:
        """Fill in missing requested times, and cut run times.

        Returns
        -------
        BoolArray
            Whether the run time of each line was cut.
        """
        missing = scanned.requested_time <= 0
        stand_in = self.stand_in_for_requested_time(scanned.run_time)
        if stand_in is not None:
            scanned.requested_time = np.where(missing, stand_in, scanned.requested_time)
        over = scanned.run_time > scanned.requested_time
        if not self.clips:
            return np.zeros_like(over)
        scanned.run_time = np.minimum(scanned.run_time, scanned.requested_time)
        return over

    def _plain(self, scanned: ScannedLines) -> BoolArray:
        """Return whether each line is plain: no policy removes its job, whichever others give jobs.

        It is not known yet which other lines will be jobs. So a plain line has a number that no
        other line has, and comes after no later submission, of a job or not.
        """
        job_id, submit_time = scanned.job_id, scanned.submit_time
        numbered = (job_id >= 0) & (submit_time >= 0)
        plain = scanned.plain & numbered
        plain &= (scanned.run_time > 0) & (scanned.requested_time > 0)
        if self._policies.unsorted != "sort":
            submitted = np.where(numbered, submit_time, 0)
            plain &= submit_time >= np.maximum(np.maximum.accumulate(submitted), self._earliest)
        # A repeated number is an error of the later line only, so both go through `parse` in turn.
        plain &= self._seen.lacks(job_id) & ~_repeated(job_id)
        times = (submit_time, scanned.run_time, scanned.requested_time)
        plain &= np.maximum.reduce(times) <= LONGEST
        if not self._bounds.hold(int(_lasting(scanned)[plain].sum()), int((~plain).sum())):
            # Near the bound of the sum of times, every job is checked by itself.
            plain[:] = False
        return plain


def _lasting(scanned: ScannedLines) -> IntArray:
    """Return each line's contribution to the sum of times."""
    return np.maximum(scanned.run_time, scanned.requested_time)


def _repeated(numbers: IntArray) -> BoolArray:
    """Return whether each number occurs more than once."""
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    return count[place] > 1
