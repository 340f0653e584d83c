"""Explanations of outages, and of starts that were decided but not carried out, in words."""

from collections.abc import Iterable

from hpcsched._core import NEVER, State
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.occupancy import OverdrawError, SharedResourceAccounts
from hpcsched.simulation.parts import Parts
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import Allocation
from hpcsched.system.system import System


class LateStarts:
    """Explanations of starts that were decided but not carried out."""

    def __init__(self, parts: Parts) -> None:
        self._outages = OutageReasons(parts.outages, parts.system)
        self._shared_resources: SharedResourceAccounts | None = None
        if parts.system.shared_resources and parts.latency is not None:
            self._shared_resources = SharedResourceAccounts(parts.system)

    def started(self, running: RunningJob) -> None:
        """Record a start."""
        if self._shared_resources is not None:
            self._shared_resources.started(running.allocation, running.waiting.request)

    def stopped(self, running: RunningJob) -> None:
        """Record the end of an attempt."""
        if self._shared_resources is not None:
            self._shared_resources.ended(running.allocation, running.waiting.request)

    def why(self, waiting: WaitingJob, allocation: Allocation, now: int, state: State) -> str:
        """Return why a decided start is not carried out, in words."""
        if self._shared_resources is not None:
            try:
                self._shared_resources.check(now, allocation, waiting.request)
            except OverdrawError as error:
                return f"{error} since the decision was asked for"
        closed = (self._outages.closed_to(waiting, node, now, state) for node in allocation.nodes)
        return next(why for why in closed if why is not None)


_MOST_NAMES = 3


class OutageReasons:
    """Explanations from all outages of a replay, and its state."""

    def __init__(self, outages: Outages, system: System) -> None:
        self._system = system
        self._all = outages.all
        self._announced = sorted(outage for outage in outages.all if outage.announced)

    def announced(self, now: int) -> tuple[Outage, ...]:
        """Return the outages that are announced and not over, by start."""
        return tuple([outage for outage in self._announced if outage.end > now])

    def closing(self, waiting: WaitingJob, now: int, state: State) -> str:
        """Return the outages that leave too few nodes to a job that would start now."""
        clear_until = state.clear_until
        end = now + waiting.predicted_run_time
        current = (outage for outage in self._all if outage.start <= now < outage.end)
        names = dict.fromkeys(outage.label for outage in current)
        for outage in self._announced:
            begins = now < outage.start < end
            if begins and (clear_until[list(outage.nodes)] == outage.start).any():
                names.setdefault(outage.label)
        return _first_outage(names)

    def closed_to(self, waiting: WaitingJob, node: int, now: int, state: State) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is open."""
        if not self._all:
            return None
        end, name = now + waiting.predicted_run_time, self._system.node_name(node)
        clear_until = int(state.clear_until[node])
        if state.down[node]:
            return f"node {name} is out of service"
        if clear_until < min(end, NEVER):
            return (
                f"node {name} goes out of service at {clear_until}, and the job is predicted to"
                f" end at {end}"
            )
        return None


def _first_outage(names: Iterable[str]) -> str:
    """Return the first few names, and the number of others."""
    names = list(names)
    shown, more = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
