"""The observer that streams a run into its Parquet files."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.results.files import JOBS, ROUNDS, problem
from hpcsched.results.placements import placement_columns
from hpcsched.results.schema import SOLVER, STATES, jobs_schema, rounds_schema
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.system import System
from hpcsched.workload.job import Job

BATCH = 4096
"""How many records are turned into columns at once, while the processor's cache holds them."""
ROW_GROUP = 8 * BATCH
LARGEST = 2**63 - 1

Record = TypeVar("Record")
Convert = Callable[[Sequence[Record], pa.Schema], list[pa.Array]]


class RunRecorder(Observer):
    """Writes `jobs.parquet` and `rounds.parquet` into a folder; `close` it when the run is over.

    Records are kept until there are enough for a row group, so memory does not grow with the run.
    Equal runs give equal bytes in `jobs.parquet`. Raises InputError where a file cannot be written.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self._jobs: _RecordFile[JobRecord] = _RecordFile(
            folder / JOBS, jobs_schema(system), _job_columns
        )
        self._rounds: _RecordFile[RoundRecord] = _RecordFile(
            folder / ROUNDS, rounds_schema(system), _round_columns
        )

    def job_ended(self, record: JobRecord) -> None:
        """Write a job that has left the system."""
        self._jobs.add(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Write a dispatching round."""
        self._rounds.add(record)

    def close(self) -> None:
        """Write what is left and finish the files."""
        try:
            self._jobs.close()
        finally:
            self._rounds.close()


class _RecordFile(Generic[Record]):
    """A Parquet file that records are appended to, a row group at a time."""

    def __init__(self, path: Path, schema: pa.Schema, convert: Convert[Record]) -> None:
        self._path, self._schema, self._convert = path, schema, convert
        self._records: list[Record] = []
        self._batches: list[pa.Table] = []
        try:
            # Whole numbers as differences: half the size, and twice as fast to read back.
            self._writer = pq.ParquetWriter(
                path,
                schema,
                compression="zstd",
                use_dictionary=["state"],
                column_encoding=dict.fromkeys(_whole_columns(schema), "DELTA_BINARY_PACKED"),
            )
        except OSError as error:
            raise problem("cannot-write", path, f"it cannot be written: {error}") from error

    def add(self, record: Record) -> None:
        self._records.append(record)
        if len(self._records) >= BATCH:
            self._convert_records()
            if len(self._batches) * BATCH >= ROW_GROUP:
                self._write_batches()

    def close(self) -> None:
        try:
            if self._records:
                self._convert_records()
            if self._batches:
                self._write_batches()
        finally:
            self._writer.close()

    def _convert_records(self) -> None:
        columns = self._convert(self._records, self._schema)
        batch = pa.Table.from_arrays(columns, schema=self._schema)
        # In this order an interruption cannot leave records in both places.
        self._records = []
        self._batches.append(batch)

    def _write_batches(self) -> None:
        try:
            self._writer.write_table(pa.concat_tables(self._batches))
        except OSError as error:
            raise problem("cannot-write", self._path, f"it cannot be written: {error}") from error
        finally:
            # Also when an interruption arrives while writing: a row must not be written twice.
            self._batches = []


def _whole_columns(schema: pa.Schema) -> Iterator[str]:
    """Yield the columns of whole numbers, by their paths in a Parquet file."""
    for column in schema:
        if pa.types.is_integer(column.type):
            yield column.name
        elif isinstance(column.type, pa.ListType) and pa.types.is_integer(column.type.value_type):
            yield f"{column.name}.list.element"
        elif isinstance(column.type, pa.StructType):
            yield from (
                f"{column.name}.{field.name}"
                for field in column.type
                if pa.types.is_integer(field.type)
            )


def _job_columns(records: Sequence[JobRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `jobs_schema`."""
    traced, demands, predicted, states, starts, ends, allocations = _transposed(records)
    job = dict(zip(Job._fields, _transposed(traced), strict=True))
    run_times = [
        None if start is None else end - start for start, end in zip(starts, ends, strict=True)
    ]
    groups = [None if names is None else sorted(names) for names in job["node_groups"]]
    allowed = [None if nodes is None else sorted(nodes) for nodes in job["allowed_nodes"]]
    whole = pa.int64()
    nodes, node_units = placement_columns(allocations)
    return [
        _whole(job["job_id"]),
        _whole(job["submit_time"]),
        pa.array(starts, whole),
        pa.array(ends, whole),
        pa.array(run_times, whole),
        _whole(job["requested_time"]),
        _whole(predicted),
        _whole(job["units"]),
        _amounts(job["unit_request"], schema.field("unit_request").type),
        _number(demands, schema.field("demand").type),
        pa.DictionaryArray.from_arrays(
            pa.array([STATES.index(state) for state in states], pa.int8()), list(STATES)
        ),
        *(
            pa.array(job[name], whole)
            for name in ("user", "group", "application", "queue", "partition")
        ),
        pa.array(job["name"], pa.string()),
        pa.array(groups, pa.list_(pa.string())),
        pa.array(allowed, pa.list_(pa.int32())),
        pa.array(job["exclusive"], pa.bool_()),
        nodes,
        node_units,
    ]


def _round_columns(records: Sequence[RoundRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `rounds_schema`."""
    *counts, waiting, free, latencies, lost, decision_times, fallbacks, solvers = _transposed(
        records
    )
    return [
        *(_whole(values) for values in counts),
        _amounts(waiting, schema.field("waiting_amounts").type),
        _amounts(free, schema.field("free_amounts").type),
        _whole(latencies),
        _amounts(lost, schema.field("lost_amounts").type),
        pa.array(decision_times, pa.float64()),
        pa.array(fallbacks, pa.bool_()),
        pa.array([None if call is None else call._asdict() for call in solvers], SOLVER),
    ]


def _number(values: Sequence[int], kind: pa.DataType) -> pa.Array:
    # Only Python turns whole numbers of more than 53 bits into floats.
    return pa.array(map(float, values), kind) if pa.types.is_floating(kind) else _amount(values)


def _transposed(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the columns of rows; `zip(*rows)` would keep the garbage collector busy."""
    return [list(map(itemgetter(k), rows)) for k in range(len(rows[0]))]


def _amounts(rows: Sequence[tuple[int, ...]], amounts: pa.StructType) -> pa.StructArray:
    columns = [
        _number(column, field.type)
        for column, field in zip(_transposed(rows), amounts, strict=True)
    ]
    return pa.StructArray.from_arrays(columns, fields=list(amounts))


def _amount(values: Sequence[int]) -> pa.Array:
    try:
        return _whole(values)
    except OverflowError:
        # A long queue may ask for more bytes than fit; no metric needs to know how many more.
        return _whole([min(value, LARGEST) for value in values])


def _whole(values: Sequence[int]) -> pa.Array:
    # Half the time that Arrow takes where it has to look for missing values.
    return pa.array(np.fromiter(values, dtype=np.int64, count=len(values)))
