"""Execution of a scenario: assembly, run directory, replay, and end, also after a failure."""

import logging
import signal
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Protocol, Self

from hpcsched.dispatching.offline.offline_problem import OfflinePlan, PlansOffline, problem_of
from hpcsched.dispatching.problem import RunningJob
from hpcsched.errors import HpcschedError, InputError
from hpcsched.interrupts import heeded_signals
from hpcsched.metrics.metric import DownAmounts
from hpcsched.plugin_faults import plugin_faults_named, prints_to_stderr
from hpcsched.runs.assembly import Assembly, assemble, parts_of
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.files import INTERRUPTIONS, JOBS, SCENARIO, SUMMARY, TIMING, write_json
from hpcsched.runs.manifest import (
    Status,
    error_text,
    finish_manifest,
    keep_answers,
    start_manifest,
)
from hpcsched.runs.monitor import Monitor
from hpcsched.runs.observers import ProcessUsage
from hpcsched.runs.recorder import (
    RecordFile,
    RunRecorder,
    interruption_table,
    job_table,
    round_table,
)
from hpcsched.runs.resource_records import (
    SharedResourceRecorder,
    down_amounts,
    goodput,
    outage_figures,
    preemption_figures,
    write_outages,
)
from hpcsched.runs.run_result import RunResult
from hpcsched.runs.run_status import remove_state
from hpcsched.runs.solver_rounds import lost_in_words
from hpcsched.runs.summary import (
    ChosenObjective,
    Measures,
    Remaining,
    measured_times,
    offline_figures,
    summarize,
)
from hpcsched.runs.tables import ParquetTable, RunRecords
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml
from hpcsched.scenario.review import not_reproducible
from hpcsched.simulation.event_loop import AHEAD, EventLoop, simulate
from hpcsched.simulation.observer import Observer, close_observers, givers_among
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Written
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_choices import check_devices, needs_reasons, obstacles
from hpcsched.system.space import room_for
from hpcsched.whole_files import write_text
from hpcsched.workload.job_batches import (
    JobColumns,
    OpenJobs,
    RequestNumbers,
    batches_of,
    columns_of,
)
from hpcsched.workload.trace_source import TraceAccount, TraceAnswer, answers_of

_log = logging.getLogger(__name__)

GRACE = 0.5
"""Real seconds that an instant may go on after a signal, such as a call of a solver."""


class LoopEnd(NamedTuple):
    """State of a loop that has ended.

    Attributes
    ----------
    down
        Amounts out of service over time, by resource type.
    not_closed
        Why observers of third parties failed in their `close`, by plugin.
    """

    remaining: Remaining
    account: TraceAccount
    comments: Sequence[str]
    in_python: Sequence[str]
    down: Mapping[str, DownAmounts]
    not_closed: Mapping[str, str] = MappingProxyType({})


class RunLoop(Protocol):
    """Loop that goes through the rounds of a run: a replay, or a live driver."""

    def run(self) -> None:
        """Hold all rounds, until the end or until `stop`."""

    def stop(self) -> None:
        """End the loop after the present instant."""

    def close(self) -> None:
        """Finish the tables and all other files that the loop writes."""

    @property
    def complete(self) -> bool:
        """False if the loop was stopped before all jobs had left."""

    @property
    def end(self) -> LoopEnd:
        """State of the loop after `close`."""

    def more_figures(self, summary: Mapping[str, Any], /, *, complete: bool) -> Mapping[str, Any]:
        """Return further blocks of the summary; `complete` is False if the run was cut short."""


class Run:
    """A run in its directory, locked while its context is open.

    The manifest says `running` until `carry_out` has ended, or until the context or the
    constructor fails.
    """

    def __init__(
        self,
        assembly: Assembly,
        *,
        trace_files: Sequence[Path] = (),
        trace_answers: Sequence[TraceAnswer] = (),
        not_reproducible_because: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        scenario, folder = assembly.scenario, assembly.folder
        self._assembly = assembly
        # Before the directory is made: a metric that cannot be built leaves an old run untouched.
        self._metrics = assembly.metrics()
        self._lock = create(folder, force=force)
        self._is_running = False
        try:
            self.observers = assembly.observers()
            # The manifest is the first file of ours: it marks the directory as a run's, which
            # `--force` may replace even if this process is killed right after.
            self._manifest = start_manifest(
                folder,
                scenario=scenario.name,
                seed=scenario.seed,
                trace_files=trace_files,
                trace_answers=trace_answers,
                plugins=assembly.distributions(),
                not_reproducible_because=not_reproducible_because,
            )
            self._is_running = True
            write_text(folder / SCENARIO, resolved_yaml(scenario))
            # A program that is asked again may answer otherwise.
            keep_answers(folder, trace_answers)
        except BaseException as error:
            for observer in getattr(self, "observers", ()):
                with suppress(HpcschedError, OSError):
                    observer.close()
            self._release(error)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release(error)

    def _release(self, error: BaseException | None) -> None:
        """Unlock the directory; first record a failure that no other file records."""
        try:
            if self._is_running and error is not None:
                interrupted = isinstance(error, KeyboardInterrupt)
                status: Status = "interrupted" if interrupted else "failed"
                text = None if interrupted else error_text(error)
                # The error that ended the run tells more than one of its last record.
                with suppress(InputError, OSError):
                    finish_manifest(self._assembly.folder, self._manifest, status, (), error=text)
                    remove_state(self._assembly.folder)
        finally:
            self._lock.release()

    @prints_to_stderr
    def carry_out(self, loop: RunLoop, *, insist: bool = True) -> RunDirectory:
        """Run a loop to its end and write the files that describe it; return the directory.

        A loop that fails or is interrupted leaves a valid directory that says so. It is interrupted
        by Ctrl-C, SIGTERM (sent by time limits) and SIGHUP (sent when a connection closes).

        Parameters
        ----------
        insist
            True: a second signal ends the loop at once, not after the present instant; and so does
            the first one where the instant takes longer than `GRACE`.
        """
        status: Status = "failed"
        text: str | None = None
        try:
            with _stopped_by_signals(loop, insist=insist), plugin_faults_named():
                loop.run()
            status = "complete" if loop.complete else "interrupted"
        except KeyboardInterrupt:
            status = "interrupted"
            raise
        except BaseException as error:
            text = error_text(error)
            raise
        finally:
            with plugin_faults_named():
                loop.close()
            self._finish(loop, status, text)
        return RunDirectory.open(self._assembly.folder)

    def _finish(self, loop: RunLoop, status: Status, error: str | None) -> None:
        assembly, folder, end = self._assembly, self._assembly.folder, loop.end
        scenario, complete = assembly.scenario, status == "complete"
        objective = scenario.objective
        measures = Measures(
            assembly.capacity,
            self._metrics,
            ChosenObjective(
                objective.plugin_name,
                assembly.objective,
                objective.model_dump(exclude={objective.plugin_tag}),
            ),
            scenario.metrics.percentiles,
            scenario.metrics.class_bounds,
            end.down,
        )
        records = RunRecords(folder)
        summary = summarize(records, measures, end.account, None if complete else end.remaining)
        summary.update(loop.more_figures(summary, complete=complete))
        # Only where there is something, as `not_measured`.
        if end.not_closed:
            summary["not_closed"] = dict(end.not_closed)
        write_json(folder / SUMMARY, summary)
        write_json(folder / TIMING, {"rounds": measured_times(records.rounds)})
        # Last but the state: it holds the hashes of all other files. Whoever watches the state
        # of a run must find the final manifest once the state is gone.
        lost = lost_in_words(records.lost_calls)
        finish_manifest(
            folder,
            self._manifest,
            status,
            end.comments,
            end.in_python,
            error=error,
            not_reproducible=[] if lost is None else [lost],
        )
        self._is_running = False
        remove_state(folder)


@contextmanager
def _stopped_by_signals(loop: RunLoop, *, insist: bool) -> Iterator[None]:
    """Let signals stop a loop at the end of an instant, or after `GRACE` seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return

    def stop(number: int, _frame: object) -> None:
        if insist:
            signal.signal(number, signal.default_int_handler)
            # Again and again, as an exception that is raised within a finaliser is lost.
            signal.setitimer(signal.ITIMER_REAL, GRACE, GRACE / 2)
        loop.stop()

    # Handlers of the caller are put back: a run may be one of several in a process.
    before = {number: signal.signal(number, stop) for number in heeded_signals()}
    alarm = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    scenario: Scenario | Path | str | Mapping[str, Any],
    out: Path | str | None = None,
    *,
    force: bool = False,
    progress: bool = False,
) -> RunResult:
    """Replay a scenario, given as such, as a file or as a dictionary; write its run directory.

    `out` is the run directory, by default `runs/NAME`; `force` replaces a run that is there.
    `progress` shows a bar on standard error if that is a terminal.
    The logger `hpcsched` tells what is replayed in compiled code, and what needs Python. An
    interrupted or failed run leaves a valid directory that says so, and what interrupted it is
    raised.
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    folder = Path(out) if out is not None else Path("runs") / scenario.name
    assembly = assemble(scenario, folder=folder).build_all()
    directory = replay_into_folder(assembly, force=force, bar=progress)
    if directory.manifest.status == "interrupted":
        raise KeyboardInterrupt
    return RunResult(directory)


def replay_into_folder(
    assembly: Assembly, *, force: bool = False, bar: bool = False
) -> RunDirectory:
    """Replay an assembled scenario into its folder; see `run`.

    An interrupted run is returned like any other: its manifest says so.
    """
    scenario, folder = assembly.scenario, assembly.folder
    because = [why for _, why in not_reproducible(scenario)]
    with Run(
        assembly,
        trace_files=assembly.source.files,
        trace_answers=answers_of(assembly.source),
        not_reproducible_because=because,
        force=force,
    ) as begun:
        # Before the replay: a run that fails still tells which outages it met.
        if scenario.outages is not None:
            write_outages(folder, assembly.outages)
        return begun.carry_out(ReplayLoop(assembly, begun.observers, bar=bar))


class ReplayLoop:
    """Replay of a run into its files: in compiled code where that can be, and else in Python."""

    def __init__(
        self, assembly: Assembly, observers: Sequence[Observer], *, bar: bool = False
    ) -> None:
        self._assembly, self._bar = assembly, bar
        names = [choice.plugin_name for choice in assembly.scenario.observers]
        givers = givers_among(names, observers)
        self._parts = parts_of(assembly, observers)._replace(givers=givers)
        parts, folder, system = self._parts, assembly.folder, assembly.system
        self._in_python = obstacles_of_run(assembly, parts)
        if assembly.scores_nodes:
            check_devices(self._in_python)
        self._usages = [one for one in parts.observers if isinstance(one, ProcessUsage)]
        self._replay = self._replay_of(parts)
        self._opened = OpenJobs()
        self._recorder = RunRecorder(folder, system)
        self._lost: RecordFile[object] | None = None
        self._shared_resources = None
        if self._assembly.scenario.outages is not None or parts.preemption is not None:
            self._lost = RecordFile(folder / INTERRUPTIONS, interruptions_schema(system))
        if system.shared_resources:
            self._shared_resources = SharedResourceRecorder(folder, system)
        self._monitor = Monitor(self._assembly, self._replay, bar=self._bar)
        self._planning = False
        self._not_closed: Mapping[str, str] = {}
        self._plan: OfflinePlan | None = None

    def _replay_of(self, parts: Parts) -> EventLoop:
        """Return a replay, under a dispatcher that is timed by the observers of CPU time."""
        for usage in self._usages:
            parts = parts._replace(dispatcher=usage.timed_dispatcher(parts.dispatcher))
        return EventLoop(parts, in_python=bool(self._in_python))

    def run(self) -> None:
        """Replay all jobs."""
        source, why = self._assembly.source, ", ".join(self._in_python)
        how = f"event by event in Python: {why}" if why else "by the core"
        _log.info("jobs are replayed %s", how)
        if not why:
            self._replay_all(batches_of(source))
            return
        if self._assembly.scenario.simulation.mode == "offline":
            self._plan_offline()
        jobs = source.jobs()
        for usage in self._usages:
            jobs = usage.timed_jobs(jobs)
        self._replay_all(columns_of(jobs, RequestNumbers(), AHEAD))

    def _plan_offline(self) -> None:
        """Plan the whole trace, which is read once for the problem, and once to begin from."""
        self._planning = True
        self._plan, parts = planned_offline(self._assembly, self._parts)
        self._replay = self._monitor.replay = self._replay_of(parts)
        self._planning = False

    def _replay_all(self, batches: Iterable[JobColumns]) -> None:
        # Closed, so that the trace is too where the replay fails.
        with closing(self._read(batches)) as read:
            for written in self._replay.run(read):
                self._record(written)

    def _read(self, batches: Iterable[JobColumns]) -> Generator[JobColumns]:
        """Yield batches as partitions and shared resources admit them, and keep their jobs."""
        for columns in admitted(batches, self._parts):
            self._opened.add(columns)
            self._monitor.read(columns)
            yield columns

    def _record(self, written: Written) -> None:
        """Record and show a part of the replay."""
        left, rounds, lost, level_time, drawn, remarks = written
        if self._lost is not None:
            self._lost.add_table(
                interruption_table(self._assembly.system, self._opened.of(lost.sequence), lost)
            )
        if self._shared_resources is not None:
            self._shared_resources.replayed(self._monitor.first_submit, level_time, drawn)
        # A job's columns are dropped when it leaves, so memory grows with the queue, not with
        # the trace.
        columns, system = self._opened.take(left.sequence), self._parts.system
        jobs = job_table(system, columns, left)
        self._recorder.replayed(jobs, round_table(system, rounds, remarks))
        self._monitor.replayed(len(left.sequence), rounds, remarks)

    def stop(self) -> None:
        """End the replay after the present instant, with jobs left in the system.

        Planning is interrupted.
        """
        if self._planning:
            raise KeyboardInterrupt
        self._replay.stop()

    def close(self) -> None:
        """Finish all records and displays."""
        self._recorder.close()
        self._not_closed = close_observers(self._parts.observers)
        for file in (self._lost, self._shared_resources, self._monitor):
            if file is not None:
                file.close()

    @property
    def complete(self) -> bool:
        """False after `stop`."""
        return not self._replay.stopped

    @property
    def end(self) -> LoopEnd:
        """State of the replay."""
        assembly = self._assembly
        return LoopEnd(
            Remaining(self._replay.state.waiting, self._replay.state.running),
            assembly.source.account,
            assembly.source.comments,
            self._in_python,
            down_amounts(assembly.outages, assembly.system),
            self._not_closed,
        )

    def more_figures(self, summary: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
        """Return figures of outages, shared resources, recorded starts and the off-line plan."""
        assembly, system, plan = self._assembly, self._assembly.system, self._plan
        more: dict[str, Any] = {}
        if self._lost is not None:
            lost, jobs = (
                ParquetTable(assembly.folder / name).whole() for name in (INTERRUPTIONS, JOBS)
            )
            if assembly.scenario.outages is not None:
                more["outages"] = outage_figures(lost, assembly.outages, system)
            if assembly.scenario.preempt is not None:
                more["preemption"] = preemption_figures(lost)
            more["goodput"] = goodput(jobs, lost, self._parts.checkpoints)
        if self._shared_resources is not None:
            more["shared_resources"] = self._shared_resources.figures()
        if assembly.recorded is not None:
            more["recorded_starts"] = asdict(assembly.recorded.figures)
        if plan is not None and complete:
            # The plan's bound holds for all jobs together, so it says nothing about a part.
            more["offline"] = offline_figures(plan, summary["objective"]["value"])
        return more


class _Starts(Observer):
    """Observer of start times, by job number, in seconds."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}

    def job_started(self, job: RunningJob) -> None:
        """Record the start."""
        self.of[job.job_id] = job.start_time


def planned_offline(assembly: Assembly, parts: Parts) -> tuple[OfflinePlan, Parts]:
    """Return a plan of the whole trace, and parts with a dispatcher that follows it.

    Planning begins with the on-line schedule of the dispatcher, among other plans.
    """
    # It imports all that plans, which few dispatchers do off-line.
    from hpcsched.dispatching.offline.planner import ReplaysPlan  # noqa: PLC0415

    dispatcher = assembly.dispatcher
    assert isinstance(dispatcher, PlansOffline)
    unit = parts.uniform_request
    problem = problem_of(
        assembly.source.jobs(),
        assembly.system,
        assembly.objective,
        None if unit is None else room_for(assembly.system, unit),
        kill_at_requested_time=parts.kill_at_requested_time,
    )
    starts = _Starts()
    simulate(parts._replace(observers=[starts], givers={}), assembly.source.jobs())
    plan = dispatcher.plan_offline(problem._replace(online=starts.of))
    follower = ReplaysPlan(plan, dispatcher.allocator)
    return plan, parts._replace(dispatcher=follower)


def obstacles_of_run(assembly: Assembly, parts: Parts) -> list[str]:
    """Return the needs for Python at each event: `obstacles`, observers, off-line planning."""
    scenario = assembly.scenario
    found = [
        f"the observer {choice.plugin_name}"
        for choice, observer in zip(scenario.observers, parts.observers, strict=True)
        if needs_reasons(observer) or isinstance(observer, ProcessUsage)
    ]
    if scenario.simulation.mode == "offline":
        found.append("planning off-line")
    return [*obstacles(parts), *found]
