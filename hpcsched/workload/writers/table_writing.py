"""Writer of Parquet tables, which the trace source `table` reads back without further keys.

Columns have the names of the glossary. `unit_request` is a structure with a field for each resource
type of the system, as declared. The file's metadata keep the trace's comments.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_columns import BOUNDS, NUMBERED
from hpcsched.workload.readers.parquet_rows import COMMENTS_KEY
from hpcsched.workload.trace_source import TraceSource
from hpcsched.workload.writers.trace_writing import (
    BOUND,
    NAMES,
    NUMBERS,
    QUEUE_NAMES,
    REQUESTS,
    WAITS,
    Losses,
    Written,
    check_trace_target,
    kept_waits,
    opened,
)

_BATCH = 10_000
_TIMES = ("job_id", "submit_time", "run_time", "requested_time", "units")
_NAMES = ("name", "queue_name", "partition_name")
_TYPES = {"names": pa.list_(pa.string()), "numbers": pa.list_(pa.int64()), "flag": pa.bool_()}


def write_table(
    path: Path,
    source: TraceSource,
    system: System,
    *,
    note: str,
    limit: int | None = None,
    force: bool = False,
) -> Written:
    """Write the jobs of a source, in their order, as a Parquet table.

    Equal jobs give equal bytes with the same version of Arrow. After an error the file is
    unchanged.

    Parameters
    ----------
    limit
        Maximum number of jobs; None: all.

    Raises
    ------
    InputError
        If the file exists or cannot be written, or the trace cannot be used.
    """
    check_trace_target(path, source, force=force)
    count, waits = 0, kept_waits(source)
    losses = Losses((BOUND, NAMES, QUEUE_NAMES, NUMBERS, REQUESTS))
    jobs = islice(source.jobs(), limit)
    batches = _in_batches(jobs)
    # A Parquet schema with the comments comes before the first row.
    first = next(batches, ())  # the comments have been read then
    # A column of nothing would be there for logs that record no waits.
    started = bool(waits)
    schema = _schema(system, source.comments, note, started=started)
    with opened(path) as file, pq.ParquetWriter(file, schema) as writer:
        for batch in _with_first(first, batches):
            writer.write_table(_table(batch, system, schema, waits))
            count += len(batch)
            for traced in batch:
                losses.note(traced.job, one_core=False)
                losses.counts[WAITS] += not started and traced.job.job_id in waits
    return Written(path, count, path.stat().st_size, lost=dict(+losses.counts))


def _in_batches(jobs: Iterator[TracedJob]) -> Iterator[Sequence[TracedJob]]:
    while batch := list(islice(jobs, _BATCH)):
        yield batch


def _with_first(
    first: Sequence[TracedJob], others: Iterator[Sequence[TracedJob]]
) -> Iterator[Sequence[TracedJob]]:
    yield first
    yield from others


def _schema(system: System, comments: Sequence[str], note: str, *, started: bool) -> pa.Schema:
    whole, text = pa.int64(), pa.string()
    amounts = pa.struct([pa.field(n, whole, nullable=False) for n in system.resource_types])
    return pa.schema(
        [
            *(pa.field(name, whole, nullable=False) for name in _TIMES),
            *([("start_time", whole)] if started else []),
            pa.field("unit_request", amounts, nullable=False),
            *((name, whole) for name in NUMBERED),
            *((name, text) for name in _NAMES),
            *(pa.field(c.name, _TYPES[c.kind], nullable=c.nullable) for c in BOUNDS),
        ],
        metadata={COMMENTS_KEY: "\n".join([*comments, f"Note: {note}"]).encode()},
    )


def _table(
    batch: Sequence[TracedJob], system: System, schema: pa.Schema, waits: Mapping[int, int]
) -> pa.Table:
    """Return rows of the table; the schema decides whether start times are in them."""
    rows: list[dict[str, Any]] = []
    for job, run_time in batch:
        wait = waits.get(job.job_id)
        rows.append(
            {
                **{name: getattr(job, name) for name in (*NUMBERED, *_NAMES)},
                "job_id": job.job_id,
                "submit_time": job.submit_time,
                "start_time": None if wait is None else job.submit_time + wait,
                "run_time": run_time,
                "requested_time": job.requested_time,
                "units": job.units,
                "unit_request": system.declared(job.unit_request),
                **{column.name: column.told(column.get(job.request)) for column in BOUNDS},
            }
        )
    return pa.Table.from_pylist(rows, schema=schema)
