"""Which nodes to plan on: those that are free soonest, and the fullest with room now."""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.planning.future_eligibility import FutureEligibility
from hpcsched.dispatching.planning.planning_input import units_of
from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import IntArray

LITTLE = 4096
"""Queued jobs × nodes up to which it does not pay to leave nodes out, if plans only count them."""


class FitCounts:
    """How many units of a job each node has room for, now and when idle; kept by shape.

    Idle nodes are those too that announced outages close to the job now. `back_at`, `[N]`, is when
    they are open again; None where none are announced.
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        assert problem.free_amounts is not None
        self._system = problem.system
        self._free = problem.free_amounts
        self._now: dict[ShapeKey, IntArray] = {}
        self._units_now: dict[ShapeKey, int] = {}
        self._idle: dict[ShapeKey, IntArray] = {}
        self._later = FutureEligibility(problem) if problem.outages else None
        self.back_at = None if self._later is None else self._later.back

    def key(self, job: WaitingJob) -> tuple[ShapeKey, ShapeKey]:
        """Return what decides about room for a job: its shapes now and later."""
        now = shape_key(job.request)
        return now, now if self._later is None else shape_key(self._in_time(job))

    def now(self, job: WaitingJob) -> IntArray:
        """Return how many each node has room for now, `[N]`."""
        key = shape_key(job.request)
        if key not in self._now:
            self._now[key] = units_that_fit(self._system, self._free, job.request)
        return self._now[key]

    def units_now(self, job: WaitingJob) -> int:
        """Return how many there is room for on all nodes now."""
        key = shape_key(job.request)
        if key not in self._units_now:
            self._units_now[key] = int(self.now(job).sum())
        return self._units_now[key]

    def idle(self, job: WaitingJob) -> IntArray:
        """Return how many each idle node has room for, `[N]`."""
        request = self._in_time(job)
        key = shape_key(request)
        if key not in self._idle:
            self._idle[key] = units_that_fit(self._system, self._system.capacity.T, request)
        return self._idle[key]

    def _in_time(self, job: WaitingJob) -> Request:
        """Return what the job asks for, on nodes that may be open to it later."""
        return job.request if self._later is None else self._later.request(job)


def chosen_nodes(
    jobs: Sequence[WaitingJob],
    fit_counts: FitCounts,
    releases: Releases,
    now: int,
    spare: float | None,
) -> IntArray:
    """Return the nodes to model, ascending: for each shape, those free soonest and the fullest.

    The former are taken by when their last release is due, free ones first, until they would hold
    `spare` times the units of all jobs of the shape; it is at least 1, so that each job fits. As
    many nodes with room now are taken beside, the fullest first, so that small jobs need not break
    into empty ones. Leaving nodes out can only forbid plans, never allow wrong ones.
    """
    count = len(fit_counts.idle(jobs[0]))
    usable = np.zeros(count, dtype=np.bool_)
    wanted: dict[tuple[ShapeKey, ShapeKey], list[WaitingJob]] = {}
    for job in jobs:
        wanted.setdefault(fit_counts.key(job), []).append(job)
    if spare is None:
        for alike in wanted.values():
            usable |= fit_counts.idle(alike[0]) > 0
        return usable.nonzero()[0]
    until = np.full(count, now, dtype=np.int64)
    until[releases.nodes] = releases.times  # ascending, so that the last counts
    if fit_counts.back_at is not None:
        until = np.maximum(until, fit_counts.back_at)
    for alike in wanted.values():
        idle, free = fit_counts.idle(alike[0]), fit_counts.now(alike[0])
        needed = units_of(alike).sum() * spare
        begun = free.nonzero()[0]
        busy = ((idle > 0) & (free == 0)).nonzero()[0]
        most = int(needed) + 1  # nodes, as each counts for a unit at least
        if len(busy) > most:
            busy = busy[until[busy] <= np.partition(until[busy], most)[most]]
        fullest = begun[free[begun].argsort(kind="stable")]
        usable[fullest[: int(free[fullest].cumsum().searchsorted(needed)) + 1]] = True
        begun = begun[np.lexsort((free[begun], until[begun]))]
        order = np.concatenate((begun, busy[until[busy].argsort(kind="stable")]))
        # A node that is busy counts for what it holds in the end, a free one for what it holds now.
        upto = np.where(free[order] > 0, free[order], idle[order]).cumsum()
        usable[order[: int(upto.searchsorted(needed)) + 1]] = True
    return usable.nonzero()[0]
