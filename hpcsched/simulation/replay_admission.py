"""Admission of submitted jobs by their partitions, batch by batch."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.arrow_arrays import numpy_array
from hpcsched.simulation.column_checks import LARGEST_AMOUNT
from hpcsched.simulation.limits import Limits
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import REFUSALS
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError, RequestNumbers, records_of

_WHERE = ("partition", "queue", "group", "application", "partition_name", "queue_name")
"""Columns by which a job belongs to a partition."""


def admitted(batches: Iterable[JobColumns], parts: Parts) -> Iterator[JobColumns]:
    """Yield batches with jobs restricted to the nodes of their partitions, and refusals marked.

    Without partitions batches are unchanged.
    """
    if not parts.partitions:
        yield from batches
        return
    limits, numbers = Limits(parts.partitions, parts.system), RequestNumbers()
    for columns in batches:
        yield _admitted(columns, limits, numbers, parts)


def _admitted(
    columns: JobColumns, limits: Limits, numbers: RequestNumbers, parts: Parts
) -> JobColumns:
    asked = columns.request, columns.units, columns.requested_time
    told = [_as_numbers(columns.details.column(name)) for name in _WHERE]
    _, first, place = np.unique(
        np.stack([*asked, *told]), axis=1, return_index=True, return_inverse=True
    )
    of_each = [limits.admit(job) for job, _ in records_of([columns.take(first)])]
    request = [numbers.of(job.request) for job, _ in of_each]
    refused = [-1 if by is None else REFUSALS.index(by) for _, by in of_each]
    for (job, _), by in zip(of_each, refused, strict=True):
        # Others fit on the system.
        if by >= 0 and parts.system.demand(job.units, job.unit_request) > LARGEST_AMOUNT:
            raise NeedsPythonError("amounts that need more than 61 bits in all")
    place = place.reshape(-1)
    return columns._replace(
        request=np.array(request, dtype=np.int64)[place],
        requests=numbers.requests,
        refused=np.array(refused, dtype=np.int64)[place],
    )


def _as_numbers(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return one number for each distinct value of a column."""
    found = column.dictionary_encode().indices.fill_null(-1)
    return numpy_array(found).astype(np.int64)
