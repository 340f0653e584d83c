"""`reasons.parquet`: reasons of starts and waits, as the dispatcher stated them."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.dispatching.decision import STARTS, Reason, ReasonKind
from hpcsched.dispatching.problem import RunningJob
from hpcsched.registration import builtin
from hpcsched.runs.columns import reasons_schema
from hpcsched.runs.files import REASONS
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.tables import ParquetTable
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord


class _Said(NamedTuple):
    """Reason of a job as last written, and True if it ever had a time."""

    what: tuple[ReasonKind, int | None, str]
    timed: bool


class ReasonRow(NamedTuple):
    """A row of `reasons.parquet`: reason from this round on.

    Attributes
    ----------
    round, now
        Number and simulated second of the round.
    kind
        None from the round on in which the dispatcher gives no reason any more.
    """

    round: int
    now: int
    job_id: int
    kind: ReasonKind | None
    job: int | None
    time: int | None
    detail: str


@builtin(
    "observer",
    "reasons",
    summary="asks the dispatcher why jobs start or wait; writes reasons.parquet",
)
class ReasonRecorder(Observer):
    """Observer that writes `reasons.parquet`: for each job its reasons, where they change.

    A reason is written again when its kind, job or detail changes, and when it first has a time;
    not when that time moves, as plans move in nearly every round. Memory holds a reason for each
    queued job, and one row group. Equal runs give equal bytes.
    """

    def __init__(self, folder: Path) -> None:
        self._file: RecordFile[ReasonRow] = RecordFile(
            folder / REASONS, reasons_schema(), repetitive=["kind", "detail"]
        )
        self._last: dict[int, _Said] = {}
        self._gone: set[int] = set()

    def job_started(self, job: RunningJob) -> None:
        """Note that the job has left the queue."""
        self._gone.add(job.job_id)

    def job_ended(self, record: JobRecord) -> None:
        """Note that the job has left the queue, if it was rejected."""
        if record.state == "rejected":
            self._gone.add(record.job.job_id)

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Write the reasons that differ from those of the round before."""
        # This runs in every round over the whole queue: locals are quicker than attributes.
        last, number, now = self._last, record.round, record.now
        present: dict[int, _Said] = {}
        for job_id, kind, job, time, detail in reasons:
            what, timed, before = (kind, job, detail), time is not None, last.pop(job_id, None)
            if before is None or before.what != what or (timed and not before.timed):
                self._file.add(ReasonRow(number, now, job_id, kind, job, time, detail))
            else:
                timed = before.timed
            if kind not in STARTS and job_id not in self._gone:
                present[job_id] = _Said(what, timed)
        for job_id in last:
            if job_id not in self._gone:
                self._file.add(ReasonRow(number, now, job_id, None, None, None, ""))
        self._last = present
        self._gone.clear()

    def close(self) -> None:
        """Write the remaining rows and finish the file."""
        self._file.close()


def reasons_of(table: ParquetTable, job_ids: Collection[int]) -> dict[int, list[ReasonRow]]:
    """Return the rows of some jobs, each job's in order of rounds."""
    found: dict[int, list[ReasonRow]] = {job_id: [] for job_id in job_ids}
    for row in _rows_where(table, "job_id", job_ids):
        found[row.job_id].append(row)
    return found


def jobs_that_speak_of(table: ParquetTable, job_id: int) -> list[int]:
    """Return the jobs with a reason that names another job, in order of the first such reason."""
    return list(dict.fromkeys(row.job_id for row in _rows_where(table, "job", [job_id])))


def _rows_where(table: ParquetTable, column: str, among: Collection[int]) -> Iterator[ReasonRow]:
    """Yield the rows with one of the numbers `among` in a column."""
    wanted = pa.array(sorted(among), pa.int64())
    for part in table.parts(*ReasonRow._fields):
        chosen = part.filter(pc.is_in(part[column], value_set=wanted, skip_nulls=True))
        yield from (ReasonRow(**row) for row in chosen.to_pylist())
