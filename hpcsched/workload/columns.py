"""Columns of jobs: a batch of a trace as arrays, one number a job."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.system.request import ShapeKey, shape_key
from hpcsched.system.system import IntArray
from hpcsched.workload.job import Job, TracedJob

BATCH = 8192
"""How many jobs come in one batch, at most."""

DETAILS = pa.schema(
    [
        *((name, pa.int64()) for name in ("user", "group", "application", "queue", "partition")),
        ("name", pa.string()),
    ]
)
"""What a trace tells of a job beside what it asks for."""


class JobColumns(NamedTuple):
    """Jobs in order of submission, `[B]`, times in seconds.

    `request` numbers the distinct unit requests of the whole trace, which `requests` lists by one
    job each; the list grows from batch to batch. `details` has the columns of `DETAILS`.
    """

    job_id: IntArray
    submit_time: IntArray
    run_time: IntArray
    requested_time: IntArray
    units: IntArray
    request: IntArray
    requests: Sequence[Job]
    details: pa.RecordBatch


class RequestNumbers:
    """Numbers distinct unit requests in the order in which they are met."""

    def __init__(self) -> None:
        self.requests: list[Job] = []
        self._numbers: dict[ShapeKey, int] = {}

    def of(self, job: Job) -> int:
        """Return the number of a job's unit request."""
        key = shape_key(job)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.requests)
            self.requests.append(job)
        return number


def columns_of(
    jobs: Iterable[TracedJob], numbers: RequestNumbers, batch: int = BATCH
) -> Iterator[JobColumns]:
    """Yield jobs as columns, in batches."""
    jobs = iter(jobs)
    while traced := list(islice(jobs, batch)):
        asked = [job for job, _ in traced]
        yield JobColumns(
            _column(job.job_id for job in asked),
            _column(job.submit_time for job in asked),
            _column(run_time for _, run_time in traced),
            _column(job.requested_time for job in asked),
            _column(job.units for job in asked),
            _column(map(numbers.of, asked)),
            numbers.requests,
            pa.RecordBatch.from_arrays(
                [pa.array(map(attrgetter(field.name), asked), field.type) for field in DETAILS],
                schema=DETAILS,
            ),
        )


def _column(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


_NONE = np.empty(0, dtype=np.int64)
NO_JOBS = JobColumns(
    _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, (), pa.RecordBatch.from_pylist([], schema=DETAILS)
)
"""A batch without jobs."""
