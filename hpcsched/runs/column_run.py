"""Replay of a run in compiled code: batches of jobs in, rows of its tables out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from hpcsched.errors import InputError
from hpcsched.monitoring.column_monitor import ColumnMonitor
from hpcsched.results.column_tables import interruption_table, job_table, round_table
from hpcsched.results.outage_records import InterruptionRecorder
from hpcsched.results.recorder import RunRecorder
from hpcsched.results.shared_resource_records import SharedResourceRecorder
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.watching import Watching
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.observer import close_observers
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.workload.job_batches import JobColumns, OpenJobs, batches_of

TOO_FEW = "so few jobs, which is sooner done than to load compiled code"
"""What keeps a short trace from being replayed in compiled code, in words."""


class ColumnRun:
    """One run in compiled code; `run` can be called once."""

    plan = None
    """Nothing is planned off-line here."""

    in_python: Sequence[str] = ()
    """What kept the code from being compiled, in words; empty if nothing did."""

    def __init__(self, assembly: Assembly, parts: Parts, watching: Watching) -> None:
        self._parts, self._watching = parts, watching
        self._replay = EventLoop(parts)
        self._source = assembly.source
        self._opened = OpenJobs()
        self._recorder = RunRecorder(assembly.folder, assembly.system)
        self._lost: InterruptionRecorder | None = None
        if assembly.scenario.outages is not None:
            self._lost = InterruptionRecorder(assembly.folder)
        self._shared_resources = (
            SharedResourceRecorder(assembly.folder, assembly.system)
            if parts.system.shared_resources
            else None
        )
        self._monitor = ColumnMonitor(watching.board(), self._replay)
        self._bar = watching.bar() if watching.with_bar else None
        self._compiling = False
        self.not_closed: Mapping[str, str] = {}
        """Why observers of third parties failed in their `close`, by plugin."""

    @property
    def stopped(self) -> bool:
        """True after `stop`."""
        return self._replay.stopped

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return self._replay.waiting

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return self._replay.running

    def stop(self) -> None:
        """End the run after the present instant, with jobs left in the system.

        Compilation is interrupted.
        """
        if self._compiling:
            raise KeyboardInterrupt
        self._replay.stop()

    def run(self) -> None:
        """Replay all jobs.

        Raises
        ------
        NeedsPythonError
            If that has to be done in Python.
        """
        system = self._parts.system
        batches = self._first_of(batches_of(self._source))
        batches = self._read(admitted(batches, self._parts))
        for left, rounds, lost, *levels in self._replay.run(batches):
            self._compiling = False
            if self._lost is not None:
                self._lost.replayed(interruption_table(self._opened.of(lost.sequence), lost))
            if self._shared_resources is not None:
                self._shared_resources.replayed(self._monitor.first_submit, *levels)
            # A job's columns are dropped when it leaves, so memory grows with the queue, not with
            # the trace.
            columns = self._opened.take(left.sequence)
            jobs = job_table(system, columns, left)
            self._recorder.replayed(jobs, round_table(system, rounds))
            if self._bar is not None:
                self._bar.replayed(len(left.sequence))
            self._monitor.replayed(columns, left, rounds)

    def close(self) -> None:
        """Finish all records and displays."""
        self._recorder.close()
        self.not_closed = close_observers(self._parts.observers)
        if self._lost is not None:
            self._lost.close()
        if self._shared_resources is not None:
            self._shared_resources.close()
        self._monitor.close()
        if self._bar is not None:
            self._bar.close()

    def _read(self, batches: Iterable[JobColumns]) -> Iterator[JobColumns]:
        """Yield batches, and record them."""
        for columns in batches:
            self._opened.add(columns)
            self._monitor.read(columns)
            yield columns

    def _first_of(self, batches: Iterator[JobColumns]) -> Iterable[JobColumns]:
        """Return the batches, after deciding if compiled code pays for their number of jobs."""
        few = self._replay.few_jobs
        first: list[JobColumns] = []
        rest: Iterator[JobColumns] = batches
        # Batches are read until it is known that the trace has more jobs, and no further: a long
        # trace never is in memory as a whole.
        while sum(len(columns.job_id) for columns in first) <= few:
            try:
                columns = next(batches, None)
            except InputError as error:  # the jobs before it are replayed
                columns, rest = None, _Failing(error)
            if columns is None:
                self.in_python = [TOO_FEW]
                self._replay.plainly = True
                break
            first.append(columns)
        self._watching.tell_loop(self.in_python)
        if not self._replay.plainly and not self._replay.is_compiled:
            self._compiling = True
        return chain(first, rest)


class _Failing(Iterator[JobColumns]):
    """Batches that raise an error when the first is read."""

    def __init__(self, error: InputError) -> None:
        self._error = error

    def __next__(self) -> JobColumns:
        raise self._error
