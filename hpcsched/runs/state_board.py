"""The state of a run in progress, computed and shown on views."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from hpcsched.runs.replay_progress import ReplayProgress
from hpcsched.runs.run_process import this_process
from hpcsched.runs.run_state import (
    STATE_FORMAT,
    NodesState,
    Phase,
    ResourceState,
    RunState,
    SharedResourceState,
    instant,
)
from hpcsched.system.node_outages import NO_OUTAGES, Outages
from hpcsched.system.system import System
from hpcsched.workload.trace_calendar import calendar_of

if TYPE_CHECKING:
    from hpcsched.runs.monitor import Monitor

DAY = 86_400
"""Simulated seconds of the window for the utilisation."""


class View(Protocol):
    """A place where states are shown: a file, a screen, log lines."""

    @property
    def interval(self) -> float:
        """Real seconds between two states."""

    def show(self, state: RunState) -> None:
        """Show a state."""

    def close(self) -> None:
        """End the view; the last state has been shown."""


_UNIX_FROM = 10**9
"""Simulated times above this, in September 2001, are Unix times."""


class StateBoard:
    """The state of a run in progress, shown on views, each at its own interval.

    The first state is shown at once, the last at the end of the replay.
    """

    def __init__(
        self,
        scenario: str,
        system: System,
        progress: ReplayProgress,
        views: Sequence[View],
        *,
        outages: Outages = NO_OUTAGES,
        comments: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._scenario, self.system, self._progress = scenario, system, progress
        self._outages = outages.all
        self._comments = comments
        self._process = this_process()
        self._views = views
        self._began = monotonic()
        self._dues = [self._began] * len(views)
        self._due = self._began

    def begin(self, figures: "Monitor") -> None:
        """Show the first state."""
        self._show_to_those_due(figures, "preparing")

    def look(self, figures: "Monitor") -> None:
        """Show the state on the views that are due."""
        # The state is computed only when some view is due.
        if monotonic() >= self._due:
            self._show_to_those_due(figures, "replaying")

    def close(self, figures: "Monitor") -> None:
        """Show the last state on all views, and end them."""
        state = self._state(figures, "summarizing")
        for view in self._views:
            view.show(state)
            view.close()

    def _show_to_those_due(self, figures: "Monitor", phase: Phase) -> None:
        state, now = self._state(figures, phase), monotonic()
        for k, view in enumerate(self._views):
            if now >= self._dues[k]:
                view.show(state)
                self._dues[k] = now + view.interval
        self._due = min(self._dues)

    def _state(self, figures: "Monitor", phase: Phase) -> RunState:
        now = figures.now
        down = self._down(now)
        share = self._progress.share(figures.ended)
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
            submitted=figures.submitted,
            waiting=figures.submitted - figures.ended - figures.running,
            running=figures.running,
            ended=figures.ended,
            rounds=figures.rounds,
            decision_time=figures.decision_times,
            resources=self._resources(figures, down),
            shared_resources=self._drawn(figures),
            solver=dict(sorted(figures.statuses.items())),
            nodes=self._nodes(down),
            date=self._date(now),
        )

    def _date(self, now: int | None) -> str | None:
        """Return the date of a simulated time; None where the trace has none."""
        if now is None:
            return None
        # The first submission is not known here; no log is 31 years long, so this is a Unix time.
        calendar = calendar_of(self._comments(), now if now > _UNIX_FROM else 0)
        return calendar.text(now) if calendar.known else None

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
        """Return the number of nodes out of service; None for a run without outages."""
        if not self._outages:
            return None
        return NodesState(count=self.system.node_count, down=len(down))

    def _drawn(self, figures: "Monitor") -> dict[str, SharedResourceState]:
        """Return capacity and use of the shared resources."""
        shared_resources = self.system.shared_resources
        if not shared_resources:
            return {}
        now = figures.now or 0
        return {
            resource.name: SharedResourceState(capacity=resource.capacity_at(now), drawn=amount)
            for resource, amount in zip(shared_resources, figures.drawn(), strict=True)
        }

    def _resources(self, figures: "Monitor", down: frozenset[int]) -> dict[str, ResourceState]:
        system = self.system
        # Of a node that is out of service nothing is allocated or free.
        lost: list[int] = system.capacity[sorted(down)].sum(axis=0).tolist()
        free = [
            max(all_ - less - used, 0)
            for all_, less, used in zip(system.totals, lost, figures.allocated(), strict=True)
        ]
        capacities, frees = system.declared(system.totals), system.declared(free)
        shares = self._shares(figures)
        return {
            name: ResourceState(
                capacity=capacities[name], free=frees[name], utilization_last_day=share
            )
            for name, share in zip(system.resource_types, shares, strict=True)
        }

    def _shares(self, figures: "Monitor") -> list[float | None]:
        """Return the share of each resource type allocated over the last simulated day."""
        now, totals = figures.now, self.system.totals
        if now is None:
            return [None] * len(totals)
        begin = now - DAY
        if figures.first_submit is not None:
            # Idle time before the first job would dilute the utilisation of a young run.
            begin = max(begin, figures.first_submit)
        span = now - begin
        return [
            area / (total * span) if total and span > 0 else None
            for area, total in zip(figures.areas(begin, now), totals, strict=True)
        ]
