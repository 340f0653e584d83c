"""The writer of the Parquet files of a run."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched._core import NEVER
from hpcsched.arrow_arrays import arrow_array, computed, null_structs, python_array, text_array
from hpcsched.runs.columns import (
    amounts_type,
    interruptions_schema,
    jobs_schema,
    rounds_schema,
)
from hpcsched.runs.files import JOBS, ROUNDS, STATES
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.tables import RunRecords
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import REFUSALS, JobRecord, RoundRecord, RoundRemarks
from hpcsched.simulation.replay_output import LeftJobs, LostAttempts, ReplayedRounds
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import (
    DETAILS,
    NO_JOBS,
    JobColumns,
    RequestNumbers,
    columns_of,
    joined_columns,
)
from hpcsched.workload.job_columns import BOUNDS


class RunRecorder(Observer):
    """Writer of `jobs.parquet` and `rounds.parquet`; `close` it after the run.

    A replay appends tables. To a live run it is an observer, and to records made by hand.

    Memory holds one row group of each, and what the summary needs. Equal runs give equal bytes in
    `jobs.parquet`.

    Attributes
    ----------
    records
        The rows that are in the files, for the summary.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self.records = RunRecords(folder)
        self._jobs: RecordFile[JobRecord] = RecordFile(
            folder / JOBS,
            jobs_schema(system),
            partial(table_of_jobs, system),
            ["state", "rejected_by"],
            self.records.add_jobs,
        )
        self._rounds: RecordFile[RoundRecord] = RecordFile(
            folder / ROUNDS,
            rounds_schema(system),
            partial(table_of_rounds, system),
            keep=self.records.add_rounds,
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
    """Build the table of jobs that have left, with the columns of `jobs.parquet`.

    Parameters
    ----------
    left
        Times, states and places of these jobs. Jobs without recorded nodes get null lists.
    """
    run_time = left.end_time - left.start_time
    rejected = left.rejected_by >= 0
    # False and True are the first two states, so that no look-up is needed.
    killed = run_time < columns.run_time
    state = np.where(left.failed, STATES.index("failed"), killed)
    state = np.where(rejected, STATES.index("rejected"), state).astype(np.int8)
    not_run = rejected if rejected.any() else None
    units, request = columns.units, columns.request
    schema = jobs_schema(system)
    arrays = {
        "job_id": columns.job_id,
        "submit_time": columns.submit_time,
        "start_time": arrow_array(left.start_time, not_run),
        "end_time": arrow_array(left.end_time, not_run),
        "run_time": arrow_array(run_time, not_run),
        "requested_time": columns.requested_time,
        "predicted_run_time": left.predicted,
        "units": units,
        "unit_request": _requested_amounts(system, columns, request),
        "demand": _demand(system, columns, units, request, schema.field("demand").type),
        "state": pa.DictionaryArray.from_arrays(arrow_array(state), text_array(STATES)),
        "rejected_by": _refusals(left.rejected_by),
        **{name: columns.details.column(name) for name in DETAILS.names if name in schema.names},
        **_bounds(columns, request, schema),
        **_places(left, not_run),
        "requeues": left.requeues,
        "lost_time": left.lost_time,
    }
    return pa.Table.from_arrays([_array(arrays[name]) for name in schema.names], schema=schema)


def round_table(
    system: System, rounds: ReplayedRounds, remarks: Sequence[RoundRemarks] = ()
) -> pa.Table:
    """Build the table of dispatching rounds, with the columns of `rounds.parquet`.

    Parameters
    ----------
    remarks
        What their decisions say; empty where none was made in Python.
    """
    count = len(rounds.now)
    schema = rounds_schema(system)
    arrays = {
        **{
            name: getattr(rounds, name)
            for name in (
                *("round", "now", "queued", "running", "started", "waiting"),
                *("latency", "decision_time"),
            )
        },
        "call_again_at": arrow_array(rounds.call_again, rounds.call_again == NEVER),
        "waiting_amounts": _amounts(system, rounds.waiting_amounts),
        "free_amounts": _amounts(system, rounds.free_amounts),
        "lost_amounts": _amounts(system, rounds.lost_amounts.astype(np.float64), pa.float64()),
        **(_said(remarks, schema) if remarks else _nothing_said(count, schema)),
    }
    return pa.Table.from_arrays([_array(arrays[name]) for name in schema.names], schema=schema)


def _said(remarks: Sequence[RoundRemarks], schema: pa.Schema) -> dict[str, pa.Array]:
    """Return the columns of rounds that a dispatcher in Python fills."""
    columns = dict(zip(RoundRemarks._fields, zip(*remarks, strict=True), strict=True))
    columns["solver"] = tuple(call and call._asdict() for call in columns["solver"])
    return {name: pa.array(values, schema.field(name).type) for name, values in columns.items()}


def _nothing_said(count: int, schema: pa.Schema) -> dict[str, pa.Array]:
    """Return these columns for rounds without a dispatcher in Python."""
    return {
        "rejected": arrow_array(np.zeros(count, dtype=np.int64)),
        "fallback": arrow_array(np.zeros(count, dtype=np.bool_)),
        "solver": null_structs(schema.field("solver").type, count),
        "chosen": pa.nulls(count, pa.string()),
        "because": pa.nulls(count, pa.string()),
    }


def interruption_table(columns: JobColumns, lost: LostAttempts) -> pa.Table:
    """Build the table of lost attempts, with the columns of `interruptions.parquet`."""
    requests = [list(request.unit_request) for request in columns.requests]
    schema = interruptions_schema()
    kind = schema.field("unit_request").type
    arrays = {
        "job_id": columns.job_id,
        "start_time": lost.start_time,
        "end_time": lost.end_time,
        "requeued": lost.requeued,
        "units": columns.units,
        "unit_request": computed(
            "take", python_array(requests, kind), arrow_array(columns.request)
        ),
        **_places(lost),
    }
    return pa.Table.from_arrays([_array(arrays[name]) for name in schema.names], schema=schema)


def joined_left(parts: Sequence[LeftJobs]) -> LeftJobs:
    """Concatenate the jobs that have left in the parts of a replay, at least one."""
    before = np.cumsum([0, *(len(part.nodes) for part in parts)])
    places = [part.last_place + first for part, first in zip(parts, before, strict=False)]
    joined = LeftJobs._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    return joined._replace(last_place=np.concatenate(places))


def without_rejected(left: LeftJobs) -> LeftJobs:
    """Return the jobs that ran, without the rejected ones."""
    ran = left.rejected_by < 0
    if ran.all():
        return left
    # Rejected jobs have no places, so that nodes and units stay as they are.
    *columns, nodes, units = left
    return LeftJobs._make([*(column[ran] for column in columns), nodes, units])


def joined_rounds(parts: Sequence[ReplayedRounds]) -> ReplayedRounds:
    """Concatenate the rounds of the parts of a replay, at least one."""
    return ReplayedRounds._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _refusals(rejected_by: IntArray) -> pa.Array:
    """Return the column `rejected_by`."""
    if (rejected_by < 0).all():
        return pa.nulls(len(rejected_by), pa.string())
    return text_array(REFUSALS).take(arrow_array(rejected_by, rejected_by < 0))


def _places(
    left: LeftJobs | LostAttempts, not_run: npt.NDArray[np.bool_] | None = None
) -> dict[str, pa.Array]:
    """Return the columns `nodes` and `node_units`; each job that ran has at least one node."""
    columns = {"nodes": left.nodes, "node_units": left.node_units}
    if len(left.sequence) and not len(left.nodes):
        nothing = pa.nulls(len(left.sequence), pa.list_(pa.int32()))
        return dict.fromkeys(columns, nothing)
    offsets = arrow_array(
        np.concatenate(([0], left.last_place)).astype(np.int32),
        # A list is missing where the offset of its beginning is.
        None if not_run is None else np.append(not_run, np.False_),
    )
    return {
        name: pa.ListArray.from_arrays(offsets, arrow_array(values))
        for name, values in columns.items()
    }


def _array(values: npt.NDArray[np.generic] | pa.Array) -> pa.Array:
    return values if isinstance(values, pa.Array) else arrow_array(values)


def _amounts(
    system: System, amounts: npt.NDArray[np.generic], kind: pa.DataType | None = None
) -> pa.StructArray:
    """Return amounts by row and resource type, `[K, R]`, as a column of structs."""
    return pa.StructArray.from_arrays(
        [arrow_array(column) for column in amounts.T],
        fields=list(amounts_type(system, kind)),
    )


def _requested_amounts(system: System, columns: JobColumns, request: IntArray) -> pa.StructArray:
    rows = np.array([job.unit_request for job in columns.requests], dtype=np.int64)
    return _amounts(system, rows.reshape(-1, len(system.resource_types))[request])


def _demand(
    system: System, columns: JobColumns, units: IntArray, request: IntArray, kind: pa.DataType
) -> pa.Array:
    """Return the demand of each job, computed in integers before it becomes a float."""
    shares = [system.demand(1, job.unit_request) for job in columns.requests]
    if pa.types.is_floating(kind):
        # Python integers: the product may need more than 64 bits.
        pairs = zip(units.tolist(), request.tolist(), strict=True)
        return arrow_array(np.array([float(count * shares[k]) for count, k in pairs]))
    return arrow_array(units * np.array(shares, dtype=np.int64)[request])


def _bounds(
    columns: JobColumns, request: IntArray, schema: pa.Schema
) -> dict[str, pa.Array | npt.NDArray[np.bool_]]:
    """Return the columns of requests that restrict the placement of units."""
    found = {}
    for column in BOUNDS:
        values = list(map(column.get, columns.requests))
        if column.kind == "flag":
            found[column.name] = np.array(values, dtype=np.bool_)[request]
        else:
            told = list(map(column.told, values))
            found[column.name] = _taken(told, request, schema.field(column.name).type)
    return found


def _taken(values: Sequence[Any], request: IntArray, kind: pa.DataType) -> pa.Array:
    """Return a column of jobs from the values of their requests."""
    if all(value is None for value in values):
        return pa.nulls(len(request), kind)
    return computed("take", python_array(values, kind), arrow_array(request))


LARGEST = 2**63 - 1


def table_of_jobs(system: System, records: Sequence[JobRecord]) -> pa.Table:
    """Build the table of jobs that have left, with the columns of `jobs.parquet`."""
    # A killed job would have run longer.
    traced = [TracedJob(one.job, _run_time(one) + (one.state == "killed")) for one in records]
    placed = [one.allocation for one in records if one.allocation is not None]
    lengths = [0 if one.allocation is None else len(one.allocation.nodes) for one in records]
    left = LeftJobs(
        np.arange(len(records)),
        _numbers([one.start_time or 0 for one in records]),
        _numbers([one.end_time or 0 for one in records]),
        _numbers([one.predicted_run_time for one in records]),
        np.array([one.state == "failed" for one in records], dtype=np.bool_),
        _numbers([_cause(one) for one in records]),
        _numbers([one.requeues for one in records]),
        _numbers([one.lost_time for one in records]),
        np.cumsum(_numbers(lengths)),
        np.array([node for at in placed for node in at.nodes], dtype=np.int32),
        np.array([units for at in placed for units in at.units], dtype=np.int32),
    )
    columns = joined_columns([NO_JOBS, *columns_of(traced, RequestNumbers())])
    return job_table(system, columns, left)


def table_of_rounds(system: System, records: Sequence[RoundRecord]) -> pa.Table:
    """Build the table of rounds, with the columns of `rounds.parquet`."""
    whole = ("round", "now", "queued", "running", "started", "waiting", "latency")
    # Only Python turns whole numbers of more than 53 bits into floats.
    lost = np.array([list(map(float, one.lost_amounts)) for one in records], dtype=np.float64)
    asked = [one.call_again_at for one in records]
    rounds = ReplayedRounds._make(
        [
            *(_numbers([getattr(one, name) for one in records]) for name in whole),
            _numbers([NEVER if again is None else again for again in asked]),
            _cut_amounts(system, [one.waiting_amounts for one in records]),
            _cut_amounts(system, [one.free_amounts for one in records]),
            lost.reshape(len(records), len(system.resource_types)),
            np.array([one.decision_time for one in records], dtype=np.float64),
        ]
    )
    said = RoundRemarks._fields
    remarks = [RoundRemarks(*(getattr(one, name) for name in said)) for one in records]
    return round_table(system, rounds, remarks)


def _run_time(record: JobRecord) -> int:
    return (record.end_time or 0) - (record.start_time or 0)


def _cause(record: JobRecord) -> int:
    """Return the place of what rejected a job in `REFUSALS`, or -1."""
    return -1 if record.rejected_by is None else REFUSALS.index(record.rejected_by)


def _numbers(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _cut_amounts(system: System, rows: Sequence[tuple[int, ...]]) -> IntArray:
    """Return amounts by round and resource type; a long queue may ask for more than fits."""
    cut = [[min(amount, LARGEST) for amount in row] for row in rows]
    return np.array(cut, dtype=np.int64).reshape(len(rows), len(system.resource_types))
