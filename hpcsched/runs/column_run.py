"""Replay of a run: batches of jobs in, rows of its tables out."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing

from hpcsched.dispatching.offline.offline_problem import OfflinePlan
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.column_tables import interruption_table, job_table, round_table
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.process_usage import ProcessUsage
from hpcsched.runs.record_file import TableFile
from hpcsched.runs.recorder import RunRecorder
from hpcsched.runs.shared_resource_records import SharedResourceRecorder
from hpcsched.runs.tables import RunRecords
from hpcsched.runs.watching import Watching
from hpcsched.simulation.engine import as_input_error, batches_in_order
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.observer import close_observers
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_output import Written
from hpcsched.workload.job_batches import JobColumns, OpenJobs, batches_of


class ColumnRun:
    """One run; `run` can be called once.

    Parameters
    ----------
    in_python
        Parts that need Python, in words; empty if the core decides.

    Attributes
    ----------
    in_python
        Parts that need Python, in words; empty if the core decides.
    not_closed
        Why observers of third parties failed in their `close`, by plugin.
    plan
        Plan of the whole trace, if it is planned off-line.
    """

    def __init__(
        self, assembly: Assembly, parts: Parts, watching: Watching, in_python: Sequence[str]
    ) -> None:
        self._assembly, self._parts, self._watching = assembly, parts, watching
        self.in_python, self._python_decides = in_python, bool(in_python)
        self._usages = [one for one in parts.observers if isinstance(one, ProcessUsage)]
        self._replay = self._replay_of(parts)
        self._opened = OpenJobs()
        folder, system = assembly.folder, assembly.system
        self._recorder = RunRecorder(folder, system)
        self._lost: TableFile | None = None
        if assembly.scenario.outages is not None:
            self._lost = TableFile(folder / INTERRUPTIONS, interruptions_schema())
        self._shared_resources = (
            SharedResourceRecorder(folder, system) if system.shared_resources else None
        )
        self._monitor = watching.monitor(self._replay)
        self._planning = False
        self.not_closed: Mapping[str, str] = {}
        self.plan: OfflinePlan | None = None

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

    @property
    def records(self) -> RunRecords:
        """Records of jobs and rounds."""
        return self._recorder.records

    def stop(self) -> None:
        """End the run after the present instant, with jobs left in the system.

        Planning is interrupted.
        """
        if self._planning:
            raise KeyboardInterrupt
        self._replay.stop()

    def run(self) -> None:
        """Replay all jobs.

        Raises
        ------
        NeedsPythonError
            If that has to be done in Python.
        DecisionError
            If a decision cannot be carried out, or jobs wait for ever.
        """
        self._watching.tell_loop(self.in_python)
        if not self._python_decides:
            self._replay_all(batches_of(self._assembly.source))
            return
        if self._assembly.scenario.simulation.mode == "offline":
            self._plan()
        jobs = self._assembly.source.jobs()
        for usage in self._usages:
            jobs = usage.timed_jobs(jobs)
        with as_input_error():
            self._replay_all(batches_in_order(jobs))

    def _replay_all(self, batches: Iterable[JobColumns]) -> None:
        # Closed, so that the trace is too where the replay fails.
        with closing(self._read(batches)) as read:
            for written in self._replay.run(read):
                self._record(written)

    def _plan(self) -> None:
        """Plan the whole trace, which is read once for the problem, and once to begin from."""
        # It imports all that plans, which few dispatchers do off-line.
        from hpcsched.runs.offline_planning import planned_offline  # noqa: PLC0415

        self._planning = True
        self.plan, parts = planned_offline(self._assembly, self._parts)
        self._replay = self._monitor.replay = self._replay_of(parts)
        self._planning = False

    def _replay_of(self, parts: Parts) -> EventLoop:
        """Return a replay, under a dispatcher that is timed by the observers of CPU time."""
        for usage in self._usages:
            parts = parts._replace(dispatcher=usage.timed_dispatcher(parts.dispatcher))
        return EventLoop(parts, in_python=self._python_decides)

    def _record(self, written: Written) -> None:
        """Record and show a part of the replay."""
        left, rounds, lost, level_time, drawn, remarks = written
        if self._lost is not None:
            self._lost.add_table(interruption_table(self._opened.of(lost.sequence), lost))
        if self._shared_resources is not None:
            self._shared_resources.replayed(self._monitor.first_submit, level_time, drawn)
        # A job's columns are dropped when it leaves, so memory grows with the queue, not with
        # the trace.
        columns, system = self._opened.take(left.sequence), self._parts.system
        jobs = job_table(system, columns, left)
        self._recorder.replayed(jobs, round_table(system, rounds, remarks))
        self._monitor.replayed(columns, left, rounds, remarks)

    def close(self) -> None:
        """Finish all records and displays."""
        self._recorder.close()
        self.not_closed = close_observers(self._parts.observers)
        if self._lost is not None:
            self._lost.close()
        if self._shared_resources is not None:
            self._shared_resources.close()
        self._monitor.close()

    def _read(self, batches: Iterable[JobColumns]) -> Generator[JobColumns]:
        """Yield batches as partitions and shared resources admit them, and keep their jobs."""
        for columns in admitted(batches, self._parts):
            self._opened.add(columns)
            self._monitor.read(columns)
            yield columns
