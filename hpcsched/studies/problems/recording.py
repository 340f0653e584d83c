"""Recording of the dispatching problems of a replay."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.runs.assembly import assemble
from hpcsched.runs.monitor import share_done
from hpcsched.runs.runner import parts_of
from hpcsched.scenario import Scenario
from hpcsched.simulation.event_loop import simulate
from hpcsched.studies.problems.problem_files import (
    InstancesWriter,
    Selection,
    header_of,
    write_instances,
)
from hpcsched.studies.progress import Bar
from hpcsched.whole_files import check_target
from hpcsched.whole_files import problem as fault
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceSource

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


class _EnoughError(HpcschedError):
    """No further problem is to be saved."""


class RecordingDispatcher:
    """Dispatcher that saves the problems of another one, and answers as it does."""

    def __init__(
        self, dispatcher: Dispatcher, selection: Selection, writer: InstancesWriter
    ) -> None:
        self._dispatcher = dispatcher
        self._selection = selection
        self._writer = writer
        self.rounds = self.matching = 0

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Save the problem if it is selected; return the decision of the wrapped dispatcher."""
        self.rounds += 1
        selection, queued = self._selection, len(problem.queue)
        most = queued if selection.max_queued is None else selection.max_queued
        if selection.min_queued <= queued <= most:
            self.matching += 1
            # Counted over matching problems, so that `every` thins out what the other bounds leave.
            if (self.matching - 1) % selection.every == 0:
                self._writer.add(problem)
                if self._writer.written == selection.limit:
                    raise _EnoughError
        return self._dispatcher.dispatch(problem)


def record(
    scenario: Scenario, out: Path, selection: Selection = ALL, *, force: bool = False
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
    parts = parts_of(assembly, ())
    header = header_of(scenario, parts.uniform_request, selection)
    with write_instances(out, header, force=force) as writer, Bar(scenario.name) as bar:
        recording = RecordingDispatcher(parts.dispatcher, selection, writer)
        with suppress(_EnoughError):
            simulate(parts._replace(dispatcher=recording), _watched(assembly.source, bar))
    return Recorded(out, recording.rounds, recording.matching, writer.written, out.stat().st_size)


def _watched(source: TraceSource, bar: Bar) -> Iterator[TracedJob]:
    """Yield the jobs of a trace, and show how many of them are read."""
    for number, job in enumerate(source.jobs()):
        if number % 100 == 0:
            bar.show(share_done(source, number), f"{number:,} jobs")
        yield job
