"""Columns of a few jobs and rounds made by hand, to try single checks of the audit on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.audit.columns import RunColumns, TraceColumns, read_trace
from hpcsched.audit.rounds import RoundColumns
from hpcsched.runs.directory import RunDirectory
from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System
from hpcsched.testing.replaying import run_columns as columns_of
from hpcsched.workload.job import TracedJob
from tests.builders import traced


class Row(NamedTuple):
    """A row of `jobs.parquet`, or of an attempt that was lost: a job of `units` times `request`.

    It ran from `start` to `end`, with so many units on which nodes; or it did not, without a start.
    """

    job_id: int
    start: int | None = None
    end: int | None = None
    places: Mapping[int, int] = {}
    submit: int = 0
    units: int = 1
    request: tuple[int, ...] = (1,)
    state: Any = "completed"
    rejected_by: Any = None
    exclusive: bool = False

    def traced(self, **more: Any) -> TracedJob:
        """Return the job as the trace has it."""
        run_time = 0 if self.start is None or self.end is None else self.end - self.start
        more = {"exclusive": self.exclusive, **more}
        given = (self.job_id, self.submit, self.units, run_time, self.request)
        return traced(*given, requested_time=1000, **more)

    def record(self) -> JobRecord:
        """Return the job as it left the system."""
        allocation = NodeAllocation(tuple(self.places), tuple(self.places.values()))
        ran = (self.start, self.end, allocation, self.rejected_by)
        return JobRecord(self.traced().job, self.units, 1000, self.state, *ran)


def trace_columns(system: System, jobs: Sequence[Row | TracedJob]) -> TraceColumns:
    """Return the columns of a trace of these jobs."""
    return read_trace([one.traced() if isinstance(one, Row) else one for one in jobs], system)


def run_columns(system: System, rows: Sequence[Row]) -> RunColumns:
    """Return the columns of these rows."""
    return columns_of([row.record() for row in rows], system)


class Held(NamedTuple):
    """A round: when it was asked for and carried out, and the numbers of jobs that it met."""

    now: int
    done: int
    queued: int = 0
    running: int = 0
    started: int = 0
    rejected: int = 0
    waiting: int = 0
    decision_time: float = 0.0
    variables: int = 0
    call_again_at: int | None = None


def round_columns(rounds: Sequence[Held]) -> RoundColumns:
    """Return the columns of these rounds, which are numbered from 1."""
    counts = zip(*(one[:7] for one in rounds), strict=True) if rounds else [()] * 7
    return RoundColumns(
        np.arange(len(rounds)) + 1,
        *(np.array(column, dtype=np.int64) for column in counts),
        decision_time=[one.decision_time for one in rounds],
        variables=[one.variables for one in rounds],
        call_again_at=[one.call_again_at for one in rounds],
    )


def directory(folder: Path, *, partial: bool = False, **tables: pa.Table) -> RunDirectory:
    """Return a run directory that holds these tables, by their names, and nothing else."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    manifest: Any = SimpleNamespace(status="interrupted" if partial else "complete")
    return RunDirectory(folder, manifest)
