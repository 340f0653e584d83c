"""Recording of the dispatching problems of a replay."""

import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import Finding, InputError
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.monitor import INTERVAL, share_done
from hpcsched.runs.runner import parts_of
from hpcsched.scenario import Scenario
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.observer import Observer
from hpcsched.studies.problems.problem_files import (
    InstancesWriter,
    Selection,
    header_of,
    write_instances,
)
from hpcsched.terminal import can_draw
from hpcsched.whole_files import check_target
from hpcsched.whole_files import problem as fault

ALL = Selection()
"""Save every dispatching problem."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A written file: numbers of rounds, matching rounds and saved problems, and size in bytes."""

    path: Path
    rounds: int
    matching: int
    saved: int
    size: int


class RecordingDispatcher:
    """Saves the problems that another dispatcher is asked, and answers as it does.

    `done` says that nothing more will be saved. An error in writing is kept as `error`, and does
    not touch the answer.
    """

    def __init__(
        self, dispatcher: Dispatcher, selection: Selection, writer: InstancesWriter
    ) -> None:
        self._dispatcher = dispatcher
        self._selection = selection
        self._writer = writer
        self.rounds = self.matching = 0
        self.error: InputError | None = None

    @property
    def done(self) -> bool:
        """True if the requested number of problems is reached, or no more can be written."""
        limit = self._selection.limit
        return self.error is not None or (limit is not None and self._writer.written >= limit)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Save the problem if it is selected; return the decision of the wrapped dispatcher."""
        self.rounds += 1
        if not self.done and self._matches(problem):
            self.matching += 1
            # Counted over matching problems, so that `every` thins out what the other bounds leave.
            if (self.matching - 1) % self._selection.every == 0:
                try:
                    self._writer.add(problem)
                # Raised after the replay, which ends here, as nothing more can be saved.
                except InputError as error:
                    self.error = error
        return self._dispatcher.dispatch(problem)

    def _matches(self, problem: DispatchingProblem) -> bool:
        queued, selection = len(problem.queue), self._selection
        most = selection.max_queued
        return queued >= selection.min_queued and (most is None or queued <= most)


def record(
    scenario: Scenario,
    out: Path,
    selection: Selection = ALL,
    *,
    force: bool = False,
    progress: bool = False,
) -> Recorded:
    """Replay a scenario under its own dispatcher and save the selected problems.

    The replay ends after the last one. No run directory is written, and the scenario's observers
    are left out. Equal replays give equal bytes.
    """
    check_target(out, force=force)
    if scenario.simulation.mode == "offline":
        message = "the scenario is planned off-line at once, so it meets no dispatching problems"
        raise InputError(Finding("not-offline", message, key="simulation.mode"))
    assembly = assemble(scenario)
    # With `--force` the trace would be replaced while it is read.
    if any(out.resolve() == file.resolve() for file in assembly.source.files):
        raise fault("cannot-write", out, "it is the trace that is to be read")
    plain = parts_of(assembly, [_Bar(assembly)] if progress and can_draw(sys.stderr) else [])
    with write_instances(
        out, header_of(scenario, plain.uniform_request, selection), force=force
    ) as writer:
        recording = RecordingDispatcher(plain.dispatcher, selection, writer)
        # Once nothing more is to be saved, the rest of the replay is of no use.
        stopper = _Stopper(recording)
        observers = (*plain.observers, stopper)
        simulation = Simulation(plain._replace(dispatcher=recording, observers=observers))
        stopper.simulation = simulation
        try:
            simulation.run(assembly.source.jobs())
        finally:
            for observer in observers:
                observer.close()
        if recording.error is not None:
            raise recording.error
    return Recorded(out, recording.rounds, recording.matching, writer.written, out.stat().st_size)


class _Stopper(Observer):
    """Observer that ends a simulation after the last saved problem."""

    def __init__(self, recording: RecordingDispatcher) -> None:
        self._recording = recording
        self.simulation: Simulation | None = None

    def round_ended(self, record: object) -> None:
        """Stop if nothing more is to be saved."""
        if self.simulation is not None and self._recording.done:
            self.simulation.stop()


class _Bar(Observer):
    """Observer that shows the progress of a replay on a terminal."""

    def __init__(self, assembly: Assembly) -> None:
        from hpcsched.runs.terminal_views import ReplayBar  # noqa: PLC0415 (rich takes its time)

        self._source = assembly.source
        self._bar = ReplayBar(assembly.scenario.name)
        self._ended = 0
        self._due = monotonic()

    def job_ended(self, record: object) -> None:
        """Count a job that has left, and update the bar where that is due."""
        self._ended += 1
        now = monotonic()
        if now >= self._due:
            self._due = now + INTERVAL
            self._bar.update(share_done(self._source, self._ended), self._ended)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()
