"""Lifecycle of a run directory: begin, replay or live loop, end, also after a failure."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Protocol, Self

from hpcsched.errors import HpcschedError, InputError
from hpcsched.interrupts import heeded_signals
from hpcsched.metrics.metric import DownAmounts
from hpcsched.plugin_faults import plugin_faults_named, prints_to_stderr
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.files import SCENARIO, SUMMARY, TIMING, write_json
from hpcsched.runs.manifest import (
    Status,
    error_text,
    finish_manifest,
    keep_answers,
    start_manifest,
)
from hpcsched.runs.run_status import remove_state
from hpcsched.runs.solver_rounds import lost_in_words
from hpcsched.runs.summary import (
    ChosenObjective,
    Left,
    Measures,
    measured_times,
    summarize,
)
from hpcsched.runs.tables import RunRecords
from hpcsched.scenario import resolved_yaml
from hpcsched.whole_files import write_text
from hpcsched.workload.trace_source import TraceAccount, TraceAnswer

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

    left: Left
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
        summary = summarize(records, measures, end.account, None if complete else end.left)
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
