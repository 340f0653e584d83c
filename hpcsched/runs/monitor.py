"""The monitor of a replay: its progress and state, shown on views at intervals."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

import numpy as np

from hpcsched.dispatching.decision import SOLVED, SolverCall
from hpcsched.runs.folder_lock import this_process
from hpcsched.runs.run_status import (
    STATE_FORMAT,
    DecisionTimes,
    NodesState,
    Phase,
    ResourceState,
    RunState,
    SharedResourceState,
    instant,
)
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import RoundRemarks
from hpcsched.simulation.replay_output import LeftJobs, ReplayedRounds
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job_batches import JobColumns
from hpcsched.workload.trace_calendar import calendar_of
from hpcsched.workload.trace_source import TraceAccount

LEAST = 1.0
"""Real seconds of replay before the rest is estimated."""

SLOW = 1.0
"""Decision time in real seconds from which a round is logged as slow."""

DAY = 86_400
"""Simulated seconds of the window for the utilisation."""

_UNIX_FROM = 10**9
"""Simulated times above this, in September 2001, are Unix times."""

_log = logging.getLogger(__name__)


class Trace(Protocol):
    """The part of a trace source that progress needs."""

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far."""

    @property
    def fraction_read(self) -> float | None:
        """Share of the trace that has been read, from 0 to 1; None if unknown."""


class ReplayProgress:
    """Progress of a replay: share of the jobs that have left, and the estimated rest.

    The number of all jobs is estimated as the jobs read so far divided by the share of the trace
    that has been read. So it is exact once the trace has been read, as of sources that read a whole
    log before its first job.

    Parameters
    ----------
    most_jobs
        Largest number of jobs; None if unknown.
    """

    def __init__(self, trace: Trace, most_jobs: int | None = None) -> None:
        self._trace, self._most_jobs = trace, most_jobs
        self._began: tuple[float, float] | None = None

    def share(self, ended: int) -> float | None:
        """Return the share of the replay that is done, from 0 to 1; None if unknown."""
        shares = []
        fraction = self._trace.fraction_read
        if fraction is not None:
            account = self._trace.account
            jobs = account.read - account.skipped.total()
            shares.append(fraction * ended / jobs if jobs > 0 else 0.0)
        if self._most_jobs:
            shares.append(ended / self._most_jobs)
        return min(1.0, max(shares)) if shares else None

    def remaining(self, share: float | None) -> float | None:
        """Return the estimated real seconds until the end of the replay; None if unknown.

        Each call is an observation; the first is the beginning of the replay.
        """
        if share is None:
            return None
        now = monotonic()
        if self._began is None:
            self._began = now, share
        began, before = self._began
        if now - began < LEAST or share <= before:
            return None
        return (now - began) * (1 - share) / (share - before)


class View(Protocol):
    """A place where states are shown: a file, a screen, log lines."""

    @property
    def interval(self) -> float:
        """Real seconds between two states."""

    def show(self, state: RunState) -> None:
        """Show a state."""

    def close(self) -> None:
        """End the view; the last state has been shown."""


class Monitor:
    """Counts and sums of a replay, shown on views after its parts, each at its own interval.

    The first state is shown at once, the last at the end of the replay.

    Parameters
    ----------
    scenario
        Name of the scenario.
    comments
        Function that returns the header of the trace.

    Attributes
    ----------
    replay
        The replay; another one takes over where a trace has been planned off-line.
    first_submit
        First submission, in seconds; None before any job was read.
    rounds
        Number of rounds so far.
    """

    def __init__(
        self,
        scenario: str,
        system: System,
        replay: EventLoop,
        progress: ReplayProgress,
        views: Sequence[View],
        *,
        outages: Outages = NO_OUTAGES,
        comments: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._scenario, self._system, self.replay = scenario, system, replay
        self._progress, self._views = progress, views
        self._outages, self._comments = outages.all, comments
        self._process = this_process()
        self._statuses: Counter[str] = Counter()
        # What each distinct request asks for, [S, R], known by the jobs that have left and run.
        self._amounts = np.empty((0, len(system.resource_types)))
        # Of the last simulated day, and whatever ended since the last state was made: start, end,
        # units and request of jobs that ran.
        self._ran: list[tuple[IntArray, ...]] = []
        self.first_submit: int | None = None
        self._ended = self.rounds = 0
        self._decision_times = self._last = self._longest = 0.0
        self._began = self._due = monotonic()
        self._dues = [self._began] * len(views)
        self._show("preparing")

    def read(self, columns: JobColumns) -> None:
        """Count a batch of jobs that has been read."""
        if self.first_submit is None and len(columns.submit_time):
            self.first_submit = int(columns.submit_time[0])
        more = [job.unit_request for job in columns.requests[len(self._amounts) :]]
        if more:
            self._amounts = np.concatenate([self._amounts, np.array(more, dtype=np.float64)])

    def replayed(
        self,
        columns: JobColumns,
        left: LeftJobs,
        rounds: ReplayedRounds,
        remarks: Sequence[RoundRemarks],
    ) -> None:
        """Count a part of the replay, and show the state where that is due.

        Parameters
        ----------
        columns
            Jobs that have left, as read, in the order of `left`.
        remarks
            Remarks of the rounds' decisions; empty where none was made in Python.
        """
        self._ended += len(left.sequence)
        self._ran.append((left.start_time, left.end_time, columns.units, columns.request))
        times = rounds.decision_time
        if len(times):
            self.rounds = int(rounds.round[-1])
            self._decision_times += float(times.sum())
            self._last = float(times[-1])
            self._longest = max(self._longest, float(times.max()))
            slow = dict.fromkeys(np.flatnonzero(times >= SLOW).tolist())
            calls = {k: one.solver for k, one in enumerate(remarks) if one.solver is not None}
            for k, call in sorted((slow | calls).items()):
                log_round(rounds.round[k], rounds.now[k], rounds.queued[k], times[k], call)
            self._statuses.update(call.status for call in calls.values())
        # The state is computed only when some view is due.
        if monotonic() >= self._due:
            self._show("replaying")

    def close(self) -> None:
        """Show the last state on all views, and end them."""
        state = self._state("summarizing")
        for view in self._views:
            view.show(state)
            view.close()

    def _show(self, phase: Phase) -> None:
        state, now = self._state(phase), monotonic()
        for k, view in enumerate(self._views):
            if now >= self._dues[k]:
                view.show(state)
                self._dues[k] = now + view.interval
        self._due = min(self._dues, default=now)

    def _state(self, phase: Phase) -> RunState:
        replay = self.replay
        now = replay.now if self.rounds else None
        down = self._down(now)
        share = self._progress.share(self._ended)
        return RunState(
            format=STATE_FORMAT,
            scenario=self._scenario,
            phase=phase,
            process=self._process,
            written=instant(),
            elapsed=round(monotonic() - self._began, 3),
            now=now,
            progress=share,
            remaining=self._progress.remaining(share) if phase == "replaying" else None,
            submitted=replay.submitted,
            waiting=replay.submitted - self._ended - replay.running,
            running=replay.running,
            ended=self._ended,
            rounds=self.rounds,
            decision_time=self._times(),
            resources=self._resources(now, down),
            shared_resources={
                resource.name: SharedResourceState(
                    capacity=resource.capacity_at(now or 0), drawn=amount
                )
                for resource, amount in zip(
                    self._system.shared_resources, replay.drawn, strict=True
                )
            },
            solver=dict(sorted(self._statuses.items())),
            nodes=NodesState(count=self._system.node_count, down=len(down))
            if self._outages
            else None,
            date=self._date(now),
        )

    def _times(self) -> DecisionTimes:
        if not self.rounds:
            return DecisionTimes(mean=None, last=None, longest=None)
        mean = self._decision_times / self.rounds
        return DecisionTimes(mean=mean, last=self._last, longest=self._longest)

    def _date(self, now: int | None) -> str | None:
        """Return the date of a simulated time; None where the trace has none."""
        if now is None:
            return None
        # The first submission is not known here; no log is 31 years long, so this is a Unix time.
        calendar = calendar_of(self._comments(), now if now > _UNIX_FROM else 0)
        return calendar.text(now) if calendar.known else None

    def _down(self, now: int | None) -> frozenset[int]:
        """Return the nodes that are out of service."""
        down: set[int] = set()
        for outage in self._outages:
            if now is None or now < outage.start:
                break
            if now < outage.end:
                down.update(outage.nodes)
        return frozenset(down)

    def _resources(self, now: int | None, down: frozenset[int]) -> dict[str, ResourceState]:
        system = self._system
        # Of a node that is out of service nothing is allocated or free.
        lost: list[int] = system.capacity[sorted(down)].sum(axis=0).tolist()
        free = [
            max(all_ - less - used, 0)
            for all_, less, used in zip(
                system.totals, lost, self.replay.allocated.tolist(), strict=True
            )
        ]
        capacities, frees = system.declared(system.totals), system.declared(free)
        return {
            name: ResourceState(
                capacity=capacities[name], free=frees[name], utilization_last_day=share
            )
            for name, share in zip(system.resource_types, self._shares(now), strict=True)
        }

    def _shares(self, now: int | None) -> list[float | None]:
        """Return the share of each resource type allocated over the last simulated day."""
        totals = self._system.totals
        if now is None:
            return [None] * len(totals)
        # Idle time before the first job would dilute the utilisation of a young run.
        begin = max(now - DAY, now - DAY if self.first_submit is None else self.first_submit)
        span = now - begin
        return [
            area / (total * span) if total and span > 0 else None
            for area, total in zip(self._areas(begin, now), totals, strict=True)
        ]

    def _areas(self, begin: int, now: int) -> list[float]:
        """Return amount × seconds of each resource type allocated in a window.

        `begin` never decreases, so that jobs that ended at `begin` or before are forgotten.
        """
        # Ends ascend from part to part.
        self._ran = [part for part in self._ran if len(part[1]) and part[1][-1] > begin]
        start, units, request = self.replay.running_jobs
        running = start, np.full(len(start), now), units, request
        areas = np.zeros(self._amounts.shape[1])
        for start, end, units, request in (*self._ran, running):
            seconds = np.maximum(end - np.maximum(start, begin), 0)
            areas += (units * seconds.astype(np.float64)) @ self._amounts[request]
        found: list[float] = areas.tolist()
        return found


def log_round(
    number: int, now: int, queued: int, decision_time: float, solver: SolverCall | None = None
) -> None:
    """Log a round that was slow, or whose solver had no plan.

    Parameters
    ----------
    now
        Simulated second of the round.
    decision_time
        Real seconds that the dispatcher took.
    solver
        The call of a solver; None if the round asked none.
    """
    if decision_time >= SLOW:
        _log.info(
            "round %d at %d s was slow: %.2f s with %d queued jobs",
            number,
            now,
            decision_time,
            queued,
        )
    if solver is not None and solver.status not in SOLVED:
        # What a solver says may have several lines.
        why = f": {' '.join(solver.why.split())}" if solver.why else ""
        _log.info("round %d at %d s: the solver had no plan: %s%s", number, now, solver.status, why)
