"""The monitor of a replay: its progress, in `state.json` and as a bar, now and then."""

import logging
import os
import socket
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic

import numpy as np

from hpcsched.dispatching.decision import SOLVED
from hpcsched.errors import InputError
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.run_status import STATE_FORMAT, Phase, ResourceState, RunState, write_state
from hpcsched.scenario.choices import Transformed
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import ReplayedRounds, RoundRemarks
from hpcsched.terminal import can_draw
from hpcsched.workload.job_batches import JobColumns
from hpcsched.workload.trace_source import TraceSource

INTERVAL = 0.5
"""Real seconds between two states."""

_log = logging.getLogger(__name__)


def share_done(trace: TraceSource, ended: int, most_jobs: int | None = None) -> float | None:
    """Return the share of the jobs that have left, from 0 to 1; None if unknown.

    The number of all jobs is estimated as the jobs read so far divided by the share of the trace
    that has been read. So it is exact once the trace has been read.
    """
    shares = []
    if trace.fraction_read is not None:
        jobs = trace.account.read - trace.account.skipped.total()
        shares.append(trace.fraction_read * ended / jobs if jobs > 0 else 0.0)
    if most_jobs:
        shares.append(ended / most_jobs)
    return min(1.0, max(shares)) if shares else None


class Monitor:
    """Counts of a replay, shown after its parts where `INTERVAL` has passed, and at its end.

    Parameters
    ----------
    bar
        Whether to show a bar on standard error too, if that is a terminal.

    Attributes
    ----------
    replay
        The replay; another one takes over where a trace has been planned off-line.
    first_submit
        First submission, in seconds; None before any job was read.
    """

    def __init__(self, assembly: Assembly, replay: EventLoop, *, bar: bool = False) -> None:
        self._assembly, self.replay = assembly, replay
        self._statuses: Counter[str] = Counter()
        self.first_submit: int | None = None
        self._ended = self.rounds = 0
        self._decision_time = 0.0
        self._began = self._due = monotonic()
        self._failed = False
        self._bar = None
        if bar and can_draw(sys.stderr):
            from hpcsched.runs.terminal_views import ReplayBar  # noqa: PLC0415 (rich takes its time)

            self._bar = ReplayBar(assembly.scenario.name)
        self._show("preparing")

    def read(self, columns: JobColumns) -> None:
        """Note the first submission of a batch of jobs that has been read."""
        if self.first_submit is None and len(columns.submit_time):
            self.first_submit = int(columns.submit_time[0])

    def replayed(self, jobs: int, rounds: ReplayedRounds, remarks: Sequence[RoundRemarks]) -> None:
        """Count a part of the replay, and show the state where that is due."""
        self._ended += jobs
        if len(rounds.round):
            self.rounds = int(rounds.round[-1])
            self._decision_time += float(np.sum(rounds.decision_time))
        for k, call in ((k, one.solver) for k, one in enumerate(remarks) if one.solver is not None):
            self._statuses[call.status] += 1
            if call.status not in SOLVED:
                # What a solver says may have several lines.
                why = " ".join(f"{call.status}: {call.why}".split())
                _log.info("round %d: the solver had no plan: %s", rounds.round[k], why)
        if monotonic() >= self._due:
            self._show("replaying")

    def close(self) -> None:
        """Show the last state, and remove the bar."""
        self._show("summarizing")
        if self._bar is not None:
            self._bar.close()

    def _show(self, phase: Phase) -> None:
        """Write the state; a run does not end because that fails."""
        state = self._state(phase)
        self._due = monotonic() + INTERVAL
        if self._bar is not None:
            self._bar.update(state.progress, state.ended)
        try:
            write_state(self._assembly.folder, state)
        except InputError as error:
            if not self._failed:
                _log.warning("%s; `hpcsched status` shows an old state", error)
            self._failed = True

    def _state(self, phase: Phase) -> RunState:
        assembly, replay, system = self._assembly, self.replay, self._assembly.system
        # All of the project's own trace sources have this key; a plugin's need not. Behind
        # transforms it is not known how many jobs there are.
        trace = assembly.scenario.trace
        transformed = isinstance(trace, Transformed) and bool(trace.transforms)
        most_jobs = None if transformed else getattr(trace, "jobs", None)
        capacity = system.declared(system.totals)
        used = system.declared(replay.state.allocated.tolist())
        return RunState(
            format=STATE_FORMAT,
            scenario=assembly.scenario.name,
            phase=phase,
            pid=os.getpid(),
            host=socket.gethostname(),
            written=datetime.now(UTC),
            elapsed=round(monotonic() - self._began, 3),
            now=replay.state.now if self.rounds else None,
            progress=share_done(assembly.source, self._ended, most_jobs),
            submitted=replay.state.submitted,
            waiting=replay.state.submitted - self._ended - replay.state.running,
            running=replay.state.running,
            ended=self._ended,
            rounds=self.rounds,
            decision_time=self._decision_time / self.rounds if self.rounds else None,
            resources={
                name: ResourceState(capacity=capacity[name], used=used[name])
                for name in system.resource_types
            },
            solver=dict(sorted(self._statuses.items())),
        )
