"""Outages in the simulated system: which nodes are down, which job may go where, what was lost.

Every dispatcher is shown each waiting job as one that may only use certain nodes: those that are
up, and that no announced outage takes before the job is predicted to end. So none has to know of
outages to keep clear of them. A job for which these nodes are too few is not shown.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import NodeSpace, units_that_fit
from hpcsched.system.system import IntArray

_NEVER = np.iinfo(np.int64).max
_MOST_NAMES = 3


class LostAttempts(NamedTuple):
    """How often a job lost a node and was put back into the queue, and how long it had run then.

    The time is that of all such attempts together, in seconds.
    """

    requeues: int
    lost_time: int


NOTHING_LOST = LostAttempts(0, 0)


class _Open(NamedTuple):
    """The nodes that are open to jobs of about the same length; `all` of them may be."""

    nodes: frozenset[int]
    all: bool
    closed_by: str


class _Narrowed(NamedTuple):
    """A job as dispatchers are shown it, or None and why not; `of` tells when that held."""

    of: tuple[int, int]
    shown: WaitingJob | None
    detail: str


class Downtime:
    """What is down, what that leaves to jobs, and how often jobs have lost a node.

    `space` is what is free of the system; of a node that is down nothing is. `held` has the jobs
    that were not shown in the last round, by number, each with the outages that keep it waiting.
    `announced` are the outages that are known of and not over, by their start.
    Times are in seconds.
    """

    def __init__(self, outages: Outages, space: NodeSpace) -> None:
        self._system = system = space.system
        self._space = space
        self._outages = outages.all
        self._announced = sorted(outage for outage in outages.all if outage.announced)
        changes = [(o.start, k, 1) for k, o in enumerate(outages.all)]
        changes += [(o.end, k, -1) for k, o in enumerate(outages.all)]
        self._changes = sorted(changes)
        self._passed = 0
        self._down: IntArray = np.zeros(system.node_count, dtype=np.int64)
        self._current: dict[int, Outage] = {}
        # Of each node, when the next announced outage begins.
        self._clear_until = self._next_announced(-1)
        self._version = 0
        self._open: dict[tuple[int, int], _Open] = {}
        self._rooms: dict[tuple[tuple[int, int], ShapeKey], tuple[frozenset[int], int]] = {}
        self._shown: dict[int, _Narrowed] = {}
        # The place of each job in the system in the order of arrival.
        self._arrivals: dict[int, int] = {}
        self._arrived = 0
        self._lost: dict[int, LostAttempts] = {}
        self._limits: list[int] = np.unique(self._clear_until).tolist()
        self.announced: tuple[Outage, ...] = tuple(self._announced)
        self.requeue = outages.requeue
        self.held: dict[int, str] = {}

    @property
    def next_change(self) -> int | None:
        """The next instant at which an outage begins or ends; None if there is none."""
        return self._changes[self._passed][0] if self._passed < len(self._changes) else None

    def pass_to(self, now: int) -> frozenset[int]:
        """Have all outages begin and end that do by now; return the nodes that went down.

        What jobs hold of these is still theirs: `close` the nodes when it has been given back.
        """
        before = self._down > 0
        announced = False
        while self._passed < len(self._changes) and self._changes[self._passed][0] <= now:
            _, k, sign = self._changes[self._passed]
            outage = self._outages[k]
            self._passed += 1
            self._down[list(outage.nodes)] += sign
            if sign > 0:
                self._current[k] = outage
                announced = announced or outage.announced
            else:
                del self._current[k]
        after = self._down > 0
        if announced:
            self._clear_until = self._next_announced(now)
            self._limits = np.unique(self._clear_until).tolist()
        self.announced = tuple([outage for outage in self.announced if outage.end > now])
        self._version += 1
        self._open.clear()
        self._rooms.clear()
        back = np.flatnonzero(before & ~after)
        self._space.available[:, back] = self._system.capacity.T[:, back]
        return frozenset(np.flatnonzero(after & ~before).tolist())

    def close(self, nodes: Iterable[int]) -> None:
        """Have nothing be free on nodes that are down; nobody may hold anything of them."""
        self._space.available[:, list(nodes)] = 0

    def arrived(self, job_id: int) -> None:
        """Take note of a job that joins the queue for the first time."""
        self._arrivals[job_id] = self._arrived
        self._arrived += 1

    def by_arrival(self, queue: Iterable[WaitingJob]) -> list[WaitingJob]:
        """Return jobs in the order in which they joined the queue for the first time."""
        return sorted(queue, key=lambda waiting: self._arrivals[waiting.job_id])

    def started(self, job_id: int) -> None:
        """Take note that a job has left the queue."""
        del self._shown[job_id]

    def requeued(self, job_id: int, ran_for: int) -> None:
        """Take note that a job has lost a node, after so many seconds, and is put back."""
        requeues, lost_time = self._lost.get(job_id, NOTHING_LOST)
        self._lost[job_id] = LostAttempts(requeues + 1, lost_time + ran_for)

    def left(self, job_id: int) -> LostAttempts:
        """Take note that a job has left the system; return its attempts that were lost."""
        self._shown.pop(job_id, None)
        self._arrivals.pop(job_id, None)
        return self._lost.pop(job_id, NOTHING_LOST)

    def eligible(self, queue: Sequence[WaitingJob], now: int) -> tuple[WaitingJob, ...]:
        """Return the jobs that could go somewhere now if nothing else ran; note which cannot."""
        self.held = held = {}
        for job in queue:
            found = self._narrowed(job, now)
            if found.shown is None:
                held[job.job_id] = found.detail
        return tuple([job for job in queue if job.job_id not in held]) if held else tuple(queue)

    def shown(self, queue: Sequence[WaitingJob]) -> tuple[WaitingJob, ...]:
        """Return eligible jobs as dispatchers are shown them: on nodes that are open to them."""
        narrowed = (self._shown[job.job_id].shown for job in queue)
        return tuple([job for job in narrowed if job is not None])

    def closed_to(self, waiting: WaitingJob, node: int, now: int) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is not."""
        end = now + waiting.predicted_run_time
        if self._down[node]:
            return f"node {self._system.node_name(node)} is out of service"
        if self._clear_until[node] < end:
            return (
                f"node {self._system.node_name(node)} goes out of service at"
                f" {self._clear_until[node]}, and the job is predicted to end at {end}"
            )
        return None

    def reasons(self) -> tuple[Reason, ...]:
        """Return why each job waits that was not shown in the last round."""
        return tuple([Reason(job, "outage", detail=detail) for job, detail in self.held.items()])

    def _narrowed(self, waiting: WaitingJob, now: int) -> _Narrowed:
        end = now + waiting.predicted_run_time
        of = self._version, bisect_left(self._limits, end)
        known = self._shown.get(waiting.job_id)
        if known is not None and known.of == of:
            return known
        open_ = self._open.get(of)
        if open_ is None:
            open_ = self._open[of] = self._opened(end)
        shown: WaitingJob | None = waiting
        if not open_.all:
            eligible, room = self._room(waiting.job.request, of, open_)
            request = waiting.job.request._replace(allowed_nodes=eligible)
            shown = None if waiting.units > room else waiting._replace(request=request)
        found = self._shown[waiting.job_id] = _Narrowed(of, shown, open_.closed_by)
        return found

    def _opened(self, end: int) -> _Open:
        """Return the nodes that are up and stay so until an instant, as far as is announced."""
        open_ = (self._down == 0) & (self._clear_until >= end)
        names = dict.fromkeys(outage.label for outage in self._current.values())
        for outage in self._announced:
            if outage.start >= end:
                break
            if any(self._clear_until[node] == outage.start for node in outage.nodes):
                names.setdefault(outage.label)
        shown = ", ".join(list(names)[:_MOST_NAMES])
        more = len(names) - _MOST_NAMES
        return _Open(
            frozenset(np.flatnonzero(open_).tolist()),
            bool(open_.all()),
            f"{shown} and {more} more" if more > 0 else shown,
        )

    def _room(
        self, request: Request, of: tuple[int, int], open_: _Open
    ) -> tuple[frozenset[int], int]:
        """Return the nodes that are open to a request, and how many of its units fit on them."""
        own = request.allowed_nodes
        key = of, shape_key(request)
        known = self._rooms.get(key)
        if known is None:
            eligible = open_.nodes if own is None else own & open_.nodes
            alone = request._replace(allowed_nodes=eligible)
            fits = units_that_fit(self._system, self._system.capacity.T, alone)
            known = self._rooms[key] = eligible, int(fits.sum())
        return known

    def _next_announced(self, now: int) -> IntArray:
        """Return when the next announced outage of each node begins, `[N]`."""
        clear = np.full(self._system.node_count, _NEVER, dtype=np.int64)
        for outage in self._announced:
            if outage.start > now:
                nodes = list(outage.nodes)
                clear[nodes] = np.minimum(clear[nodes], outage.start)
        return clear
