"""The writer of the Parquet files of a run."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched._core import NEVER
from hpcsched.arrow_arrays import arrow_array, computed, null_structs, python_array
from hpcsched.runs.columns import (
    amounts_type,
    interruptions_schema,
    jobs_schema,
    rounds_schema,
)
from hpcsched.runs.files import JOBS, ROUNDS, STATES
from hpcsched.runs.record_file import RecordFile
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import (
    REFUSALS,
    JobRecord,
    LeftJobs,
    LostAttempts,
    ReplayedRounds,
    RoundRecord,
    RoundRemarks,
)
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import (
    BOUNDS,
    JOB_ID,
    NAME,
    REQUESTED_TIME,
    SUBMIT_TIME,
    UNITS,
    WHOSE,
)
from hpcsched.workload.job_batches import DETAILS, JobColumns


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
    """Build the table of jobs that have left, with the columns of `jobs.parquet`.

    Parameters
    ----------
    left
        Times, states and places of these jobs. Jobs without recorded nodes get null lists.
    """
    run_time = left.end_time - left.start_time
    rejected = left.rejected_by >= 0
    # False and True are the first two states, so that no look-up is needed.
    state = np.where(left.failed, STATES.index("failed"), run_time < columns.run_time)
    state = np.where(rejected, STATES.index("rejected"), state).astype(np.int8)
    not_run = rejected if rejected.any() else None
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
        run_time=arrow_array(run_time, not_run),
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
    """Build the table of dispatching rounds, with the columns of `rounds.parquet`.

    Parameters
    ----------
    remarks
        What their decisions say; empty where none was made in Python.
    """
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


def interruption_table(columns: JobColumns, lost: LostAttempts) -> pa.Table:
    """Build the table of lost attempts, with the columns of `interruptions.parquet`."""
    schema = interruptions_schema()
    requests = [list(request.unit_request) for request in columns.requests]
    return _table(
        schema,
        job_id=columns.job_id,
        start_time=lost.start_time,
        end_time=lost.end_time,
        requeued=lost.requeued,
        units=columns.units,
        unit_request=_taken(requests, columns.request, schema.field("unit_request").type),
        **_places(lost),
    )


def table_of_jobs(system: System, records: Sequence[JobRecord]) -> pa.Table:
    """Build the table of jobs that have left from their records, as `job_table` does."""
    schema = jobs_schema(system)
    whole_demand = pa.types.is_integer(schema.field("demand").type)
    rows = []
    for one in records:
        job, at = one.job, one.allocation
        rows.append(
            one._asdict()
            | {
                column.name: column.told(column.get(job))
                for column in (JOB_ID, SUBMIT_TIME, REQUESTED_TIME, UNITS, NAME, *WHOSE, *BOUNDS)
            }
            | {
                "run_time": one.end_time and one.end_time - (one.start_time or 0),
                "unit_request": dict(zip(system.resource_types, job.unit_request, strict=True)),
                "demand": one.demand if whole_demand else float(one.demand),
                "nodes": at and at.nodes,
                "node_units": at and at.units,
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
