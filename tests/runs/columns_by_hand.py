"""Columns of a few jobs and rounds made by hand, to try single checks of the audit on."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.audit.columns import AuditedRun, Replayed, RoundColumns
from hpcsched.runs.directory import RunDirectory
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from tests.builders import traced
from tests.runs.hand_made import DECLARED, replayed


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


def seen(
    system: System,
    rows: Sequence[Row],
    jobs: Sequence[Row | TracedJob] | None = None,
    lost: Sequence[Interruption] = (),
    **conditions: Any,
) -> Replayed:
    """Return these rows and the jobs of their trace as the rules of the audit see them."""
    traced = [one.traced() if isinstance(one, Row) else one for one in (jobs or rows)]
    records = [row.record() for row in rows]
    return replayed(traced, records, *lost, system=system, **conditions)


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
    names = ("now", "done", "queued", "running", "started", "rejected", "waiting")
    return RoundColumns(
        round=np.arange(len(rounds)) + 1,
        **{
            name: np.array([getattr(one, name) for one in rounds], dtype=np.int64) for name in names
        },
        decision_time=np.array([one.decision_time for one in rounds], dtype=np.float64),
        variables=[one.variables for one in rounds],
        call_again_at=[one.call_again_at for one in rounds],
    )


def audited(at: Replayed, rounds: Sequence[Held] = (), **parts: Any) -> AuditedRun:
    """Return a run with these rounds; `parts` are those of `AuditedRun` that a rule looks at."""
    nothing: Any = SimpleNamespace(summary={})
    given = {"run": nothing, "source": nothing, "answers": (), "declared": DECLARED, **parts}
    own = {field.name: getattr(at, field.name) for field in fields(at)}
    return AuditedRun(**own, rounds=round_columns(rounds), **given)


def directory(folder: Path, *, partial: bool = False, **tables: pa.Table) -> RunDirectory:
    """Return a run directory that holds these tables, by their names, and nothing else."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    manifest: Any = SimpleNamespace(status="interrupted" if partial else "complete")
    return RunDirectory(folder, manifest)
