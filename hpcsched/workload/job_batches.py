"""Batches of jobs as columns: one array for each field, one number for each job."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array, computed, python_array
from hpcsched.errors import Finding, InputError
from hpcsched.system.system import IntArray, Request, ShapeKey, shape_key
from hpcsched.workload.job import NUMBERED, TEXTS, Job, TracedJob
from hpcsched.workload.trace_source import TraceSource

BATCH = 8192
"""Maximum number of jobs in a batch."""

DETAILS = pa.schema(
    [
        *((name, pa.int64()) for name in NUMBERED),
        *((name, pa.string()) for name in TEXTS),
        ("after", pa.list_(pa.int64())),
        ("think_time", pa.int64()),
        ("begin_delay", pa.int64()),
        ("patience", pa.int64()),
        ("shared_requests", pa.map_(pa.string(), pa.int64())),
    ]
)
"""Further fields of `Job`, beside its request on nodes and its times."""


def not_replayable(why: str) -> InputError:
    """Return the error about jobs that cannot be replayed; `why` names their fault."""
    message = f"the jobs cannot be replayed: {why}"
    return InputError(Finding("too-large", message, key="trace"))


class JobColumns(NamedTuple):
    """Jobs in order of submission, `[B]`, times in seconds.

    Attributes
    ----------
    request
        Index of each job's unit request in `requests`.
    requests
        A request for each distinct unit request of the whole trace so far, of any units and draws;
        the list grows from batch to batch.
    refused
        Index in `hpcsched.simulation.records.REFUSALS` of the reason why a job is refused at its
        submission, or -1; None if no job is refused.
    """

    job_id: IntArray
    submit_time: IntArray
    run_time: IntArray
    requested_time: IntArray
    units: IntArray
    request: IntArray
    requests: Sequence[Request]
    details: pa.RecordBatch
    refused: IntArray | None = None

    @property
    def refusals(self) -> IntArray:
        """Refusal of each job, `[B]`; -1 for none."""
        return np.full(len(self.job_id), -1) if self.refused is None else self.refused

    def take(self, rows: IntArray) -> "JobColumns":
        """Return some of the jobs, in any order."""
        return JobColumns._make(
            [
                *(column[rows] for column in self[:6]),
                self.requests,
                computed("take", self.details, arrow_array(rows)),
                None if self.refused is None else self.refused[rows],
            ]
        )


class RequestNumbers:
    """Numbering of distinct unit requests in the order of their first occurrence."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._numbers: dict[ShapeKey, int] = {}

    def of(self, request: Request) -> int:
        """Return the number of a unit request."""
        key = shape_key(request)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.requests)
            self.requests.append(request)
        return number


@runtime_checkable
class GivesColumns(Protocol):
    """Trace source that also yields columns, which saves making a record of each job."""

    def job_columns(self, numbers: RequestNumbers) -> Iterator[JobColumns]:
        """Yield the jobs of `jobs`, with the same account, in batches.

        The jobs before an error come first.
        """


def batches_of(source: TraceSource) -> Iterator[JobColumns]:
    """Yield the jobs of a trace source as columns, in batches."""
    numbers = RequestNumbers()
    if isinstance(source, GivesColumns):
        return source.job_columns(numbers)
    return columns_of(source.jobs(), numbers)


def records_of(batches: Iterable[JobColumns]) -> Iterator[TracedJob]:
    """Yield jobs from columns that express all of their fields."""
    for batch in batches:
        columns = [column.tolist() for column in batch[:6]]
        details = map(_values, batch.details)
        for row in zip(*columns, *details, strict=True):
            job_id, submit_time, run_time, requested_time, units, number = row[:6]
            *more, after, think_time, begin_delay, patience, drawn = row[6:]
            asked = batch.requests[number][1:-1]
            draws = tuple(drawn) if drawn else ()
            request = Request._make((units, *asked, draws))
            before = tuple(after) if after else ()
            times = think_time, begin_delay, patience
            fields = job_id, submit_time, request, requested_time, *more, before, *times
            yield TracedJob(Job._make(fields), run_time)


def _values(column: pa.Array) -> Iterable[Any]:
    """Return the values of a column; conversion is skipped where all are null."""
    if column.null_count == len(column):
        return repeat(None, len(column))
    values: Iterable[Any] = column.to_pylist()
    return values


def numbered(request: IntArray, requests: Sequence[Request], numbers: RequestNumbers) -> IntArray:
    """Return the numbers of unit requests.

    Parameters
    ----------
    request
        Indices in `requests`, `[B]`.
    requests
        Unit requests.
    numbers
        Numbering of unit requests, which may grow.
    """
    met, first, place = np.unique(request, return_index=True, return_inverse=True)
    number = np.empty(len(met), dtype=np.int64)
    # In order of occurrence, so that numbers do not depend on how `np.unique` sorts.
    for k in np.argsort(first).tolist():
        number[k] = numbers.of(requests[met[k]])
    return number[place]


def columns_of(
    jobs: Iterable[TracedJob], numbers: RequestNumbers, batch: int = BATCH
) -> Iterator[JobColumns]:
    """Yield jobs as columns, in batches.

    The jobs before an error come in a last batch; then the error is raised.
    """
    jobs = iter(jobs)
    fault: BaseException | None = None
    while fault is None:
        traced: list[TracedJob] = []
        try:
            traced.extend(islice(jobs, batch))
        # Jobs that have been read must be yielded before the error: their account has been kept.
        except BaseException as error:  # an interruption as well
            fault = error
        if traced:
            yield _columns(traced, numbers)
        elif fault is None:
            return
    try:
        raise fault
    finally:
        # The error knows this place; what is read from would stay open until both are found.
        del fault


def _columns(traced: Sequence[TracedJob], numbers: RequestNumbers) -> JobColumns:
    asked = [job for job, _ in traced]
    try:
        return JobColumns(
            _column(job.job_id for job in asked),
            _column(job.submit_time for job in asked),
            _column(run_time for _, run_time in traced),
            _column(job.requested_time for job in asked),
            _column(job.units for job in asked),
            _column(numbers.of(job.request) for job in asked),
            numbers.requests,
            pa.RecordBatch.from_arrays(
                [
                    _detail([getattr(job, field.name) for job in asked], field.type)
                    for field in DETAILS
                ],
                schema=DETAILS,
            ),
        )
    # NumPy raises OverflowError for Python integers beyond 64 bits; records hold any integer.
    except OverflowError:
        raise not_replayable("numbers of more than 64 bits") from None


def _detail(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return optional values of jobs as a column, with null for None and for empty collections."""
    if pa.types.is_nested(kind):
        told = [value or None for value in values]
        if not any(told):
            return pa.nulls(len(told), kind)
        return pa.array(told, kind) if pa.types.is_map(kind) else python_array(told, kind)
    if kind == pa.string():
        values = [None if value is None else str(value) for value in values]
    return python_array(values, kind)


def _column(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def joined_columns(batches: Sequence[JobColumns]) -> JobColumns:
    """Return all batches of a trace as one.

    Parameters
    ----------
    batches
        At least one batch, in order.
    """
    if len(batches) == 1:
        return batches[0]
    details = pa.Table.from_batches([batch.details for batch in batches]).combine_chunks()
    return JobColumns._make(
        [
            *(
                np.concatenate(parts)
                for parts in zip(*(batch[:6] for batch in batches), strict=True)
            ),
            batches[-1].requests,
            details.to_batches()[0] if details.num_rows else batches[-1].details,
            _joined_refusals(batches),
        ]
    )


def _joined_refusals(batches: Sequence[JobColumns]) -> IntArray | None:
    if all(batch.refused is None for batch in batches):
        return None
    return np.concatenate([batch.refusals for batch in batches])


class OpenJobs:
    """Columns of jobs that have been read and have not left the system yet."""

    def __init__(self) -> None:
        self._batches: list[JobColumns] = [NO_JOBS]
        self._sequence = NO_JOBS.job_id
        self._gone = np.empty(0, dtype=np.bool_)
        self._read = 0

    def add(self, columns: JobColumns) -> None:
        """Append the next batch."""
        self._batches.append(columns)
        count = len(columns.job_id)
        more = np.arange(self._read, self._read + count)
        self._sequence = np.concatenate([self._sequence, more])
        self._gone = np.concatenate([self._gone, np.zeros(count, dtype=np.bool_)])
        self._read += count

    def of(self, sequence: IntArray) -> JobColumns:
        """Return jobs by their positions in the trace."""
        columns = joined_columns(self._batches)
        return columns.take(np.searchsorted(self._sequence, sequence))

    def take(self, sequence: IntArray) -> JobColumns:
        """Remove jobs by their positions in the trace, and return them."""
        columns = joined_columns(self._batches)
        rows = np.searchsorted(self._sequence, sequence)
        taken = columns.take(rows)
        self._gone[rows] = True
        # Compacted when half is gone: each job is copied a constant number of times on average.
        if 2 * np.count_nonzero(self._gone) > len(self._gone):
            kept = np.flatnonzero(~self._gone)
            columns, self._sequence = columns.take(kept), self._sequence[kept]
            self._gone = self._gone[kept]
        self._batches = [columns]
        return taken


_NONE = np.empty(0, dtype=np.int64)

NO_JOBS = JobColumns(
    _NONE,
    _NONE,
    _NONE,
    _NONE,
    _NONE,
    _NONE,
    (),
    pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in DETAILS], schema=DETAILS),
)
"""Batch without jobs."""
