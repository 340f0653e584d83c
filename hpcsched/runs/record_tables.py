"""Tables of a run, built from records of jobs and rounds: of a live run, or made by hand."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hpcsched.runs.column_tables import job_table, round_table
from hpcsched.simulation.records import REFUSALS, JobRecord, RoundRecord, RoundRemarks
from hpcsched.simulation.replay_output import LeftJobs, ReplayedRounds
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import NO_JOBS, RequestNumbers, columns_of, joined_columns

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
    rounds = ReplayedRounds._make(
        [
            *(_numbers([getattr(one, name) for one in records]) for name in whole),
            _amounts(system, [one.waiting_amounts for one in records]),
            _amounts(system, [one.free_amounts for one in records]),
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


def _amounts(system: System, rows: Sequence[tuple[int, ...]]) -> IntArray:
    """Return amounts by round and resource type; a long queue may ask for more than fits."""
    cut = [[min(amount, LARGEST) for amount in row] for row in rows]
    return np.array(cut, dtype=np.int64).reshape(len(rows), len(system.resource_types))
