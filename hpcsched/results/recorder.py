"""The observer that streams a run into its Parquet files."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from hpcsched.results.files import JOBS, ROUNDS
from hpcsched.results.placements import placement_columns
from hpcsched.results.record_file import RecordFile, transposed, whole
from hpcsched.results.schema import SOLVER, STATES, jobs_schema, rounds_schema
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.request import Request
from hpcsched.system.system import System
from hpcsched.workload.job import Job

LARGEST = 2**63 - 1


class RunRecorder(Observer):
    """Writes `jobs.parquet` and `rounds.parquet` into a folder; `close` it when the run is over.

    Records are kept until there are enough for a row group, so memory does not grow with the run.
    Equal runs give equal bytes in `jobs.parquet`. Raises InputError where a file cannot be written.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self._jobs: RecordFile[JobRecord] = RecordFile(
            folder / JOBS, jobs_schema(system), job_columns, repetitive=["state", "rejected_by"]
        )
        self._rounds: RecordFile[RoundRecord] = RecordFile(
            folder / ROUNDS, rounds_schema(system), round_columns
        )

    def job_ended(self, record: JobRecord) -> None:
        """Write a job that has left the system."""
        self._jobs.add(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Write a dispatching round."""
        self._rounds.add(record)

    def replayed(self, jobs: pa.Table, rounds: pa.Table) -> None:
        """Write jobs that have left the system and rounds, with the columns of the files."""
        self._jobs.add_table(jobs)
        self._rounds.add_table(rounds)

    def close(self) -> None:
        """Write what is left and finish the files."""
        try:
            self._jobs.close()
        finally:
            self._rounds.close()


def job_columns(records: Sequence[JobRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `jobs_schema`."""
    traced, demands, predicted, states, starts, ends, allocations, *more = transposed(records)
    rejected_by, requeues, lost_times = more
    job = dict(zip(Job._fields, transposed(traced), strict=True))
    job |= dict(zip(Request._fields, transposed(job["request"]), strict=True))
    run_times = [
        None if start is None else end - start for start, end in zip(starts, ends, strict=True)
    ]
    groups = [None if names is None else sorted(names) for names in job["node_groups"]]
    allowed = [None if nodes is None else sorted(nodes) for nodes in job["allowed_nodes"]]
    int64 = pa.int64()
    nodes, node_units = placement_columns(allocations)
    return [
        whole(job["job_id"]),
        whole(job["submit_time"]),
        pa.array(starts, int64),
        pa.array(ends, int64),
        pa.array(run_times, int64),
        whole(job["requested_time"]),
        whole(predicted),
        whole(job["units"]),
        _amounts(job["unit_request"], schema.field("unit_request").type),
        _number(demands, schema.field("demand").type),
        pa.DictionaryArray.from_arrays(
            pa.array([STATES.index(state) for state in states], pa.int8()), list(STATES)
        ),
        pa.array(rejected_by, pa.string()),
        *(
            pa.array(job[name], int64)
            for name in ("user", "group", "application", "queue", "partition")
        ),
        pa.array(job["name"], pa.string()),
        pa.array(groups, pa.list_(pa.string())),
        pa.array(allowed, pa.list_(pa.int32())),
        pa.array(job["exclusive"], pa.bool_()),
        pa.array(job["scatter"], pa.bool_()),
        nodes,
        node_units,
        whole(requeues),
        whole(lost_times),
    ]


def round_columns(records: Sequence[RoundRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `rounds_schema`."""
    *counts, waiting, free, latencies, lost, decision_times, fallbacks, solvers = transposed(
        records
    )
    return [
        *(whole(values) for values in counts),
        _amounts(waiting, schema.field("waiting_amounts").type),
        _amounts(free, schema.field("free_amounts").type),
        whole(latencies),
        _amounts(lost, schema.field("lost_amounts").type),
        pa.array(decision_times, pa.float64()),
        pa.array(fallbacks, pa.bool_()),
        pa.array([None if call is None else call._asdict() for call in solvers], SOLVER),
    ]


def _number(values: Sequence[int], kind: pa.DataType) -> pa.Array:
    # Only Python turns whole numbers of more than 53 bits into floats.
    return pa.array(map(float, values), kind) if pa.types.is_floating(kind) else _amount(values)


def _amounts(rows: Sequence[tuple[int, ...]], amounts: pa.StructType) -> pa.StructArray:
    columns = [
        _number(column, field.type) for column, field in zip(transposed(rows), amounts, strict=True)
    ]
    return pa.StructArray.from_arrays(columns, fields=list(amounts))


def _amount(values: Sequence[int]) -> pa.Array:
    try:
        return whole(values)
    except OverflowError:
        # A long queue may ask for more bytes than fit; no metric needs to know how many more.
        return whole([min(value, LARGEST) for value in values])
