"""Parquet files that grow with a run, and the writer of its jobs and rounds."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched._core import NEVER
from hpcsched.arrow_arrays import arrow_array, computed, null_structs, python_array
from hpcsched.runs.columns import (
    amounts_type,
    interruptions_schema,
    jobs_schema,
    rounds_schema,
)
from hpcsched.runs.files import JOBS, ROUNDS, STATES
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import (
    REFUSALS,
    BoolArray,
    JobRecord,
    LeftJobs,
    LostAttempts,
    NodeArray,
    ReplayedRounds,
    RoundRecord,
    RoundRemarks,
)
from hpcsched.system.system import IntArray, System
from hpcsched.whole_files import cannot_write
from hpcsched.workload.job import (
    BEGIN_DELAY,
    BOUNDS,
    JOB_ID,
    NAME,
    PATIENCE,
    REQUESTED_TIME,
    SUBMIT_TIME,
    UNITS,
    WHOSE,
)
from hpcsched.workload.job_batches import DETAILS, JobColumns

BATCH = 4096
"""Number of records that become columns at once, small enough for the processor's cache."""
ROW_GROUP = 8 * BATCH

Record = TypeVar("Record")


class RecordFile(Generic[Record]):
    """A Parquet file that records or tables are appended to, written a row group at a time.

    Equal rows give equal bytes, however they are appended.

    Parameters
    ----------
    convert
        Function that returns records as a table; None: they are tuples of the schema's columns.
    repetitive
        Columns that are written with a dictionary.
    """

    def __init__(
        self,
        path: Path,
        schema: pa.Schema,
        convert: Callable[[Sequence[Record]], pa.Table] | None = None,
        repetitive: Sequence[str] = (),
    ) -> None:
        self._path, self._schema, self._convert = path, schema, convert
        self._records: list[Record] = []
        self._batches: list[pa.Table] = []
        self._rows = 0
        try:
            # Whole numbers as differences: half the size, and twice as fast to read back.
            self._writer = pq.ParquetWriter(
                path,
                schema,
                compression="zstd",
                use_dictionary=list(repetitive),
                column_encoding=dict.fromkeys(_whole_columns(schema), "DELTA_BINARY_PACKED"),
            )
        except OSError as error:
            raise cannot_write(path, error) from error

    def add(self, record: Record) -> None:
        """Append a record."""
        self._records.append(record)
        if len(self._records) >= BATCH:
            self._convert_records()

    def add_table(self, table: pa.Table) -> None:
        """Append rows."""
        if table.num_rows:
            self._batches.append(table)
            self._rows += table.num_rows
            self._write_groups()

    def close(self) -> None:
        """Write the remaining rows and finish the file."""
        try:
            if self._records:
                self._convert_records()
            self._write_groups(least=1)
        finally:
            try:
                self._writer.close()
            except OSError as error:
                # Its finaliser would try, and complain, once more.
                self._writer.is_open = False
                # Without its end it cannot be read.
                with suppress(OSError):
                    self._path.unlink()
                raise cannot_write(self._path, error) from error

    def _convert_records(self) -> None:
        records = self._records
        if self._convert is None:
            arrays = map(pa.array, zip(*records, strict=True), self._schema.types)
            table = pa.Table.from_arrays(list(arrays), schema=self._schema)
        else:
            table = self._convert(records)
        # In this order an interruption cannot leave records in both places.
        self._records = []
        self.add_table(table)

    def _write_groups(self, least: int = ROW_GROUP) -> None:
        """Write row groups of buffered rows, while at least `least` rows are buffered."""
        while self._rows >= least:
            rows = pa.concat_tables(self._batches)
            group, rest = rows.slice(0, ROW_GROUP), rows.slice(ROW_GROUP)
            # Before they are written: an interruption must not have a row be written twice.
            self._batches = [rest] if rest.num_rows else []
            self._rows = rest.num_rows
            try:
                self._writer.write_table(_in_chunks(group))
            except OSError as error:
                raise cannot_write(self._path, error) from error


def _in_chunks(table: pa.Table) -> pa.Table:
    """Return a table in chunks of `BATCH` rows: where chunks begin shows in the bytes of a file."""
    *full, last = (len(chunk) for chunk in table.column(0).chunks)
    if last <= BATCH and all(rows == BATCH for rows in full):
        return table
    whole_table = table.combine_chunks()
    return pa.concat_tables(
        [whole_table.slice(first, BATCH) for first in range(0, table.num_rows, BATCH)]
    )


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


class RunRecorder(Observer):
    """Writer of `jobs.parquet` and `rounds.parquet`; `close` it after the run.

    A replay appends tables. To a live run it is an observer, and to records made by hand.

    Memory holds one row group of each. Equal runs give equal bytes in `jobs.parquet`.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self._jobs: RecordFile[JobRecord] = RecordFile(
            folder / JOBS,
            jobs_schema(system),
            partial(table_of_jobs, system),
            ["state", "rejected_by"],
        )
        self._rounds: RecordFile[RoundRecord] = RecordFile(
            folder / ROUNDS,
            rounds_schema(system),
            partial(table_of_rounds, system),
        )

    def job_ended(self, record: JobRecord) -> None:
        """Record a job that has left the system."""
        self._jobs.add(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Record a dispatching round."""
        self._rounds.add(record)

    def replayed(self, jobs: pa.Table, rounds: pa.Table) -> None:
        """Record tables of jobs that have left and of rounds, with the columns of the files."""
        self._jobs.add_table(jobs)
        self._rounds.add_table(rounds)

    def close(self) -> None:
        """Write the remaining rows and finish the files."""
        try:
            self._jobs.close()
        finally:
            self._rounds.close()


def job_table(system: System, columns: JobColumns, left: LeftJobs) -> pa.Table:
    """Build the table of jobs that have left; without recorded nodes they get null lists."""
    rejected, not_run = left.rejected_by >= 0, None if left.has_run.all() else ~left.has_run
    # False and True are the first two states, so that no look-up is needed.
    state = np.where(left.failed, STATES.index("failed"), left.work < columns.run_time)
    state = np.where(left.preempted, STATES.index("preempted"), state)
    state = np.where(left.withdrawn, STATES.index("withdrawn"), state)
    state = np.where(rejected, STATES.index("rejected"), state).astype(np.int8)
    units, request = columns.units, columns.request
    requested = np.array([job.unit_request for job in columns.requests], dtype=np.int64)
    requested = requested.reshape(-1, len(system.resource_types))
    schema = jobs_schema(system)
    return _table(
        schema,
        job_id=columns.job_id,
        submit_time=columns.submit_time,
        start_time=arrow_array(left.start_time, not_run),
        end_time=arrow_array(left.end_time, not_run),
        run_time=arrow_array(left.ran, not_run),
        requested_time=columns.requested_time,
        predicted_run_time=left.predicted,
        units=units,
        unit_request=_amounts(system, requested[request]),
        demand=_demand(system, columns, schema.field("demand").type),
        state=pa.DictionaryArray.from_arrays(arrow_array(state), python_array(STATES, pa.string())),
        rejected_by=computed(
            "take", python_array(REFUSALS, pa.string()), arrow_array(left.rejected_by, ~rejected)
        ),
        requeues=left.requeues,
        lost_time=left.lost_time,
        backfilled=arrow_array(left.backfilled, not_run),
        **{name: columns.details.column(name) for name in DETAILS.names if name in schema.names},
        **{
            column.name: _taken(
                [column.told(column.get(one)) for one in columns.requests],
                request,
                schema.field(column.name).type,
            )
            for column in BOUNDS
        },
        **_places(left, not_run),
    )


def round_table(
    system: System, rounds: ReplayedRounds, remarks: Sequence[RoundRemarks] = ()
) -> pa.Table:
    """Build the table of dispatching rounds; `remarks` are those of decisions made in Python."""
    count, schema = len(rounds.now), rounds_schema(system)
    columns = rounds._asdict()
    again = columns.pop("call_again")
    for name in ("waiting_amounts", "free_amounts"):
        columns[name] = _amounts(system, columns[name])
    columns["lost_amounts"] = _amounts(system, rounds.lost_amounts.astype(np.float64), pa.float64())
    if remarks:
        said = dict(zip(RoundRemarks._fields, zip(*remarks, strict=True), strict=True))
        said["solver"] = tuple(call and call._asdict() for call in said["solver"])
        columns |= {
            name: pa.array(values, schema.field(name).type) for name, values in said.items()
        }
    else:
        columns |= {
            "rejected": np.zeros(count, dtype=np.int64),
            "fallback": np.zeros(count, dtype=np.bool_),
            "solver": null_structs(schema.field("solver").type, count),
            "chosen": pa.nulls(count, pa.string()),
            "because": pa.nulls(count, pa.string()),
        }
    return _table(schema, call_again_at=arrow_array(again, again == NEVER), **columns)


def interruption_table(system: System, columns: JobColumns, lost: LostAttempts) -> pa.Table:
    """Build the table of lost attempts, with the columns of `interruptions.parquet`."""
    schema = interruptions_schema(system)
    requests = [list(request.unit_request) for request in columns.requests]
    return _table(
        schema,
        job_id=columns.job_id,
        start_time=lost.start_time,
        end_time=lost.end_time,
        requeued=lost.requeued,
        suspended=lost.suspended,
        preempted_by=arrow_array(lost.preempted_by, lost.preempted_by < 0),
        run_time=lost.ran,
        lost_time=lost.lost_time,
        units=columns.units,
        unit_request=_taken(requests, columns.request, schema.field("unit_request").type),
        **_places(lost),
    )


_OWN = (JOB_ID, SUBMIT_TIME, REQUESTED_TIME, UNITS, NAME, BEGIN_DELAY, PATIENCE)


def table_of_jobs(system: System, records: Sequence[JobRecord]) -> pa.Table:
    """Build the table of jobs that have left from their records, as `job_table` does."""
    schema = jobs_schema(system)
    whole_demand = pa.types.is_integer(schema.field("demand").type)
    rows = []
    for one in records:
        job, at = one.job, one.allocation
        rows.append(
            one._asdict()
            | {column.name: column.told(column.get(job)) for column in (*_OWN, *WHOSE, *BOUNDS)}
            | {
                "run_time": one.end_time and one.end_time - (one.start_time or 0),
                "unit_request": dict(zip(system.resource_types, job.unit_request, strict=True)),
                "demand": one.demand if whole_demand else float(one.demand),
                "nodes": at and at.nodes,
                "node_units": at and at.units,
                "devices": None,
            }
        )
    return pa.Table.from_pylist(rows, schema)


def table_of_rounds(system: System, records: Sequence[RoundRecord]) -> pa.Table:
    """Build the table of rounds from their records, as `round_table` does."""

    def amounts(values: Sequence[float]) -> dict[str, float]:
        return dict(zip(system.resource_types, values, strict=True))

    rows = [
        one._asdict()
        | {
            # A long queue may ask for more than fits into 64 bits.
            "waiting_amounts": amounts([min(value, LARGEST) for value in one.waiting_amounts]),
            "free_amounts": amounts(one.free_amounts),
            "lost_amounts": amounts([float(value) for value in one.lost_amounts]),
            "solver": one.solver and one.solver._asdict(),
        }
        for one in records
    ]
    return pa.Table.from_pylist(rows, rounds_schema(system))


LARGEST = 2**63 - 1


def joined_left(parts: Sequence[LeftJobs]) -> LeftJobs:
    """Concatenate the jobs that have left in the parts of a replay, at least one."""
    before = np.cumsum([0, *(len(part.nodes) for part in parts)])
    devices = np.cumsum([0, *(len(part.devices) for part in parts)])
    places = [part.last_place + first for part, first in zip(parts, before, strict=False)]
    last = [part.last_device + first for part, first in zip(parts, devices, strict=False)]
    joined = LeftJobs._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    return joined._replace(last_place=np.concatenate(places), last_device=np.concatenate(last))


def without_rejected(left: LeftJobs) -> LeftJobs:
    """Return the jobs that ran, without those that were rejected or withdrawn."""
    ran = left.has_run
    if ran.all():
        return left
    # The others have no places, so that these stay as they are.
    *columns, nodes, units, last_device, devices = left
    kept = (column[ran] for column in columns)
    return LeftJobs._make([*kept, nodes, units, last_device[ran], devices])


def joined_rounds(parts: Sequence[ReplayedRounds]) -> ReplayedRounds:
    """Concatenate the rounds of the parts of a replay, at least one."""
    return ReplayedRounds._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _places(
    left: LeftJobs | LostAttempts, not_run: npt.NDArray[np.bool_] | None = None
) -> dict[str, pa.Array]:
    """Return the columns of places; each job that ran has at least one node."""
    none = np.zeros(len(left.sequence), dtype=np.bool_) if not_run is None else not_run
    if not len(left.nodes):
        none = np.ones_like(none)
    without = np.diff(left.last_device, prepend=0) == 0
    return {
        "nodes": _lists(left.last_place, left.nodes, none),
        "node_units": _lists(left.last_place, left.node_units, none),
        "devices": _lists(left.last_device, left.devices, without),
    }


def _lists(last: IntArray, values: IntArray | NodeArray, none: BoolArray) -> pa.Array:
    """Return a column of lists, given their ends in the list of values and which are missing."""
    if none.all():
        return pa.nulls(len(none), pa.list_(arrow_array(values).type))
    # A list is missing where the offset of its beginning is.
    missing = np.append(none, np.False_) if none.any() else None
    offsets = arrow_array(np.append(0, last).astype(np.int32), missing)
    return pa.ListArray.from_arrays(offsets, arrow_array(values))


def _table(schema: pa.Schema, **columns: Any) -> pa.Table:
    """Return a table of Arrow or NumPy arrays."""
    arrays = (columns[name] for name in schema.names)
    return pa.Table.from_arrays(
        [one if isinstance(one, pa.Array) else arrow_array(one) for one in arrays], schema=schema
    )


def _amounts(
    system: System, amounts: npt.NDArray[np.generic], kind: pa.DataType | None = None
) -> pa.StructArray:
    """Return amounts by row and resource type, `[K, R]`, as a column of structs."""
    return pa.StructArray.from_arrays(
        [arrow_array(column) for column in amounts.T],
        fields=list(amounts_type(system, kind)),
    )


def _demand(system: System, columns: JobColumns, kind: pa.DataType) -> pa.Array:
    """Return the demand of each job, computed in integers before it becomes a float."""
    shares = [system.demand(1, job.unit_request) for job in columns.requests]
    if pa.types.is_floating(kind):
        # Python integers: the product may need more than 64 bits.
        pairs = zip(columns.units.tolist(), columns.request.tolist(), strict=True)
        return arrow_array(np.array([float(count * shares[k]) for count, k in pairs]))
    return arrow_array(columns.units * np.array(shares, dtype=np.int64)[columns.request])


def _taken(values: Sequence[Any], request: IntArray, kind: pa.DataType) -> pa.Array:
    """Return a column of jobs from the values of their requests."""
    if all(value is None for value in values):
        return pa.nulls(len(request), kind)
    return computed("take", python_array(values, kind), arrow_array(request))
