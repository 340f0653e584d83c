"""The monitor: an observer that shows, now and then, how far a run has come."""

from collections import Counter, deque
from collections.abc import Sequence
from time import monotonic
from typing import Protocol

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.results.run_process import this_process
from hpcsched.results.run_state import (
    STATE_FORMAT,
    DecisionTimes,
    NodesState,
    Phase,
    PoolState,
    ResourceState,
    RunState,
    instant,
)
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.pool_draws import drawn_by_all, total
from hpcsched.system.system import System
from hpcsched.workload.source import TraceSource

DAY = 86_400
"""Simulated seconds over which the utilization is looked at."""


class View(Protocol):
    """Something that a state is shown on: a file, a screen, lines."""

    @property
    def interval(self) -> float:
        """Real seconds between two states that are shown."""

    def show(self, state: RunState) -> None:
        """Show a state."""

    def close(self) -> None:
        """The replay is over; the last state has been shown."""


class Monitor(Observer):
    """Follows a simulation, and shows its state on views, each at its own interval.

    What it hears of an event it only keeps; a state is made of it when a view is due, at the end of
    a round. The first is shown at once, and the last when the replay is over. `most_jobs` is how
    many jobs the scenario asks for at most, if it says so. `outages` are those of the run.
    """

    def __init__(
        self,
        scenario: str,
        system: System,
        source: TraceSource,
        views: Sequence[View],
        most_jobs: int | None = None,
        *,
        outages: Outages = NO_OUTAGES,
    ) -> None:
        self._scenario, self._system, self._source = scenario, system, source
        self._outages = outages.all
        self._process = this_process()
        self._views = views
        self._most_jobs = most_jobs
        self._began = monotonic()
        self._running: dict[int, RunningJob] = {}
        # Jobs that ran, by their ends: of the last simulated day, and whatever ended since the last
        # state was made.
        self._ran: deque[JobRecord] = deque()
        self._first_submit: int | None = None
        self._submitted = self._ended = 0
        self._round: RoundRecord | None = None
        self._decision_times = self._longest = 0.0
        self._statuses: Counter[str] = Counter()
        self._dues = [self._began] * len(views)
        self._due = self._began
        self._show_to_those_due("preparing")

    def job_submitted(self, job: WaitingJob) -> None:
        """Count the job."""
        if self._first_submit is None:
            self._first_submit = job.submit_time
        self._submitted += 1

    def job_started(self, job: RunningJob) -> None:
        """Keep the job, as one that runs."""
        self._running[job.job_id] = job

    def job_interrupted(self, interruption: Interruption) -> None:
        """Keep the job as one that waits, if it is run again."""
        if interruption.requeued:
            self._running.pop(interruption.job.job_id, None)

    def job_ended(self, record: JobRecord) -> None:
        """Keep the job, as one that ran, unless it was rejected."""
        self._ended += 1
        if self._running.pop(record.job.job_id, None) is not None:
            self._ran.append(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Take note of the round, and show the state where that is due."""
        self._round = record
        self._decision_times += record.decision_time
        self._longest = max(self._longest, record.decision_time)
        if record.solver is not None:
            self._statuses[record.solver.status] += 1
        if monotonic() >= self._due:
            self._show_to_those_due("replaying")

    def close(self) -> None:
        """Show the last state, on all views."""
        state = self._state("summarizing")
        for view in self._views:
            view.show(state)
            view.close()

    def _show_to_those_due(self, phase: Phase) -> None:
        state, now = self._state(phase), monotonic()
        for k, view in enumerate(self._views):
            if now >= self._dues[k]:
                view.show(state)
                self._dues[k] = now + view.interval
        self._due = min(self._dues)

    def _state(self, phase: Phase) -> RunState:
        last, now = self._round, self._now()
        down = self._down(now)
        rounds = last.round if last else 0
        return RunState(
            format=STATE_FORMAT,
            scenario=self._scenario,
            phase=phase,
            process=self._process,
            written=instant(),
            elapsed=round(monotonic() - self._began, 3),
            now=now,
            progress=self._progress(),
            submitted=self._submitted,
            waiting=self._submitted - self._ended - len(self._running),
            running=len(self._running),
            ended=self._ended,
            rounds=rounds,
            decision_time=DecisionTimes(
                mean=self._decision_times / rounds if rounds else None,
                last=last.decision_time if last else None,
                longest=self._longest if rounds else None,
            ),
            resources=self._resources(now, down),
            pools=self._drawn(now),
            solver=dict(sorted(self._statuses.items())),
            nodes=self._nodes(down),
        )

    def _now(self) -> int | None:
        """Return the simulated second that the replay has come to; None before the first round."""
        if self._round is None:
            return None
        decided = self._round.now + self._round.latency
        # Jobs may have ended since, with nothing left to decide.
        return max(decided, self._ran[-1].end_time or 0) if self._ran else decided

    def _progress(self) -> float | None:
        if self._most_jobs:
            return min(1.0, self._submitted / self._most_jobs)
        return self._source.fraction_read

    def _down(self, now: int | None) -> frozenset[int]:
        """Return the nodes that are out of service."""
        if now is None:
            return frozenset()
        down: set[int] = set()
        for outage in self._outages:
            if now < outage.start:
                break
            if now < outage.end:
                down.update(outage.nodes)
        return frozenset(down)

    def _nodes(self, down: frozenset[int]) -> NodesState | None:
        """Return how many nodes are out of service; None where none ever is."""
        if not self._outages:
            return None
        return NodesState(count=self._system.node_count, down=len(down))

    def _drawn(self, now: int | None) -> dict[str, PoolState]:
        """Return what the pools offer, and what running jobs draw from them."""
        system = self._system
        if not system.pools:
            return {}
        running = [(job.allocation, job.waiting.job) for job in self._running.values()]
        drawn = total(drawn_by_all(system, running), len(system.pools))
        return {
            pool.name: PoolState(capacity=pool.capacity_at(now or 0), drawn=amount)
            for pool, amount in zip(system.pools, drawn, strict=True)
        }

    def _resources(self, now: int | None, down: frozenset[int]) -> dict[str, ResourceState]:
        system = self._system
        held = [0] * len(system.resource_types)
        for job in self._running.values():
            for r, amount in enumerate(job.waiting.unit_request):
                held[r] += job.units * amount
        # Of a node that is out of service nothing is held, and nothing is free.
        lost: list[int] = system.capacity[sorted(down)].sum(axis=0).tolist()
        free = [
            max(all_ - less - used, 0)
            for all_, less, used in zip(system.totals, lost, held, strict=True)
        ]
        capacities, frees = system.declared(system.totals), system.declared(free)
        shares = [None] * len(held) if now is None else self._shares(now)
        return {
            name: ResourceState(
                capacity=capacities[name], free=frees[name], utilization_last_day=share
            )
            for name, share in zip(system.resource_types, shares, strict=True)
        }

    def _shares(self, now: int) -> list[float | None]:
        """Return the share of each resource type that was held over the last simulated day."""
        begin = now - DAY
        while self._ran and (self._ran[0].end_time or 0) <= begin:
            self._ran.popleft()
        if self._first_submit is not None:
            begin = max(begin, self._first_submit)
        areas = [0] * len(self._system.resource_types)
        for record in self._ran:
            start, end = record.start_time, record.end_time
            assert start is not None and end is not None  # it ran
            _add(areas, record.job.units, record.job.unit_request, end - max(start, begin))
        for job in self._running.values():
            seconds = now - max(job.start_time, begin)
            _add(areas, job.units, job.waiting.unit_request, seconds)
        span = now - begin
        return [
            area / (total * span) if total and span > 0 else None
            for area, total in zip(areas, self._system.totals, strict=True)
        ]


def _add(areas: list[int], units: int, request: tuple[int, ...], seconds: int) -> None:
    """Add what a job held for some seconds, in amount × seconds."""
    for r, amount in enumerate(request):
        areas[r] += units * amount * seconds
