"""Built-in observers: every event, reasons of starts and waits, and CPU time and memory by round.

Source of the last: Galleguillos, thesis 2020, section 3.5.2, table 3.3 and figure 3.9.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.dispatching.decision import STARTS, Decision, Reason, ReasonKind
from hpcsched.dispatching.problem import (
    Dispatcher,
    DispatchingProblem,
    RunningJob,
    WaitingJob,
    plans_past_outages,
)
from hpcsched.plugin_faults import origin_of, remember
from hpcsched.registration import builtin
from hpcsched.runs.columns import reasons_schema, usage_schema
from hpcsched.runs.files import EVENTS, REASONS, USAGE
from hpcsched.runs.recorder import RecordFile
from hpcsched.runs.tables import ParquetTable
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord
from hpcsched.whole_files import cannot_write
from hpcsched.workload.job import TracedJob


@builtin("observer", "event-log")
class EventLog(Observer):
    """Observer: writes every event to events.jsonl in the run directory.

    They are in the order of the simulation.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS
        self._file = self._path.open("w", encoding="utf-8")

    def job_submitted(self, job: WaitingJob) -> None:
        """Write a submission, with the predicted run time."""
        details = {name: getattr(job, name) for name in ("job_id", "units", "predicted_run_time")}
        self._write("submitted", job.submit_time, **details)

    def job_started(self, job: RunningJob) -> None:
        """Write a start, with the places."""
        nodes, units = job.allocation.nodes, job.allocation.units
        self._write("started", job.start_time, job_id=job.job_id, nodes=nodes, node_units=units)

    def job_interrupted(self, interruption: Interruption) -> None:
        """Write the loss of a node, and whether the job waits again."""
        job_id, requeued = interruption.job.job_id, interruption.requeued
        self._write("interrupted", interruption.end_time, job_id=job_id, requeued=requeued)

    def job_ended(self, record: JobRecord) -> None:
        """Write how a job left the system; a rejected job has the time of its submission."""
        time = record.end_time
        if time is None:
            time = record.job.submit_time
            time += (record.job.patience or 0) * (record.state == "withdrawn")
        self._write(record.state, time, job_id=record.job.job_id)

    def round_ended(self, record: RoundRecord) -> None:
        """Write a dispatching round, at the instant at which its decision takes effect."""
        details = {
            name: getattr(record, name) for name in ("round", "queued", "started", "waiting")
        }
        self._write("round", record.now + record.latency, **details)

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _write(self, event: str, time: int, **details: object) -> None:
        try:
            print(json.dumps({"time": time, "event": event, **details}), file=self._file)
        except OSError as error:
            raise cannot_write(self._path, error) from error


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


@builtin("observer", "reasons")
class ReasonRecorder(Observer):
    """Observer: asks the dispatcher why jobs start or wait; writes reasons.parquet.

    The file has for each job its reasons, where they change.

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
        """Note that the job has left the queue, if it never started."""
        if record.start_time is None:
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


def resident_memory() -> int | None:
    """Return the resident memory of this process, in bytes; None without `/proc`."""
    try:
        # Sizes in pages; the second one is the resident part.
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class UsageRow(NamedTuple):
    """A row of `usage.parquet`: CPU time since the round before, and memory.

    Attributes
    ----------
    loading_time, dispatching_time, other_time
        CPU seconds of the process and all its threads.
    memory
        Resident memory at the end of the round, in bytes; None if the operating system does not
        say.
    """

    round: int
    now: int
    queued: int
    loading_time: float
    dispatching_time: float
    other_time: float
    memory: int | None


@builtin(
    "observer",
    "cpu-memory",
    summary="measures CPU time and memory of the simulation, round by round; writes usage.parquet",
)
class ProcessUsage(Observer):
    """Observer that writes `usage.parquet`: a row for each round.

    Trace and dispatcher are timed by `timed_jobs` and `timed_dispatcher`.
    """

    def __init__(self, folder: Path) -> None:
        self._file: RecordFile[UsageRow] = RecordFile(folder / USAGE, usage_schema())
        self._loading = self._dispatching = 0.0
        self._since: float | None = None

    def timed_jobs(self, jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
        """Yield the jobs, counting the CPU time until each is there as loading."""
        self._since = process_time()
        while True:
            began = process_time()
            traced = next(jobs, None)
            self._loading += process_time() - began
            if traced is None:
                return
            yield traced

    def timed_dispatcher(self, dispatcher: Dispatcher) -> Dispatcher:
        """Wrap a dispatcher so that its CPU time counts as dispatching."""
        timed = _Timed(self, dispatcher)
        origin = origin_of(dispatcher)
        if origin is not None:
            remember(timed, origin)
        return timed

    def decide(self, dispatcher: Dispatcher, problem: DispatchingProblem) -> Decision:
        """Return a dispatcher's decision, counting its CPU time as dispatching."""
        began = process_time()
        try:
            return dispatcher.dispatch(problem)
        finally:
            self._dispatching += process_time() - began

    def round_ended(self, record: RoundRecord) -> None:
        """Write the CPU time since the round before."""
        now = process_time()
        loading, dispatching = self._loading, self._dispatching
        spent = now - (now if self._since is None else self._since)
        self._file.add(
            UsageRow(
                record.round,
                record.now,
                record.queued,
                loading,
                dispatching,
                # Clocks of different resolution may leave a negative rest.
                max(0.0, spent - loading - dispatching),
                resident_memory(),
            )
        )
        self._loading = self._dispatching = 0.0
        self._since = now

    def close(self) -> None:
        """Write the remaining rows and finish the file."""
        self._file.close()


@dataclass(frozen=True)
class _Timed:
    """Dispatcher with timed decisions."""

    usage: ProcessUsage
    dispatcher: Dispatcher

    @property
    def plans_past_outages(self) -> bool:
        """True if its plans may begin after outages, as `plans_past_outages` says."""
        return plans_past_outages(self.dispatcher)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the dispatcher's decision."""
        return self.usage.decide(self.dispatcher, problem)
