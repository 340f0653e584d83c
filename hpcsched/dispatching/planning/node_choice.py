"""The nodes to plan on: those that are free soonest, and the fullest with room now.

A queued job's request allows only nodes that are eligible if it starts now. Plans with later starts
need the nodes that become eligible again once announced outages are over.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planning.model_data import MOST
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import IntArray, Request, ShapeKey, System, shape_key

_NONE = np.empty(0, dtype=np.int64)


class Releases(NamedTuple):
    """`K` releases: at `times[k]`, ascending, `amounts[k]`, `[R]`, come free on `nodes[k]`."""

    times: IntArray
    nodes: IntArray
    amounts: IntArray


def releases_of(system: System, ends: Sequence[tuple[int, RunningJob]]) -> Releases:
    """Return the releases of running jobs, by their predicted ends, node by node."""
    count = len(ends)
    requests = [job.waiting.request for _, job in ends]
    arrays = [job.allocation.arrays for _, job in ends]
    per_end = np.fromiter((len(nodes) for nodes, _ in arrays), dtype=np.int64, count=count)
    nodes = np.concatenate([_NONE, *(nodes for nodes, _ in arrays)])
    units = np.concatenate([_NONE, *(units for _, units in arrays)])
    asked = np.array([request.unit_request for request in requests], dtype=np.int64)
    amounts = asked.reshape(count, len(system.resource_types)).repeat(per_end, axis=0)
    amounts *= units[:, np.newaxis]
    exclusive = np.array([request.exclusive for request in requests], dtype=np.bool_)
    if exclusive.any():  # what it holds is whole nodes
        whole = exclusive.repeat(per_end)
        amounts[whole] = system.capacity[nodes[whole]]
    # fromiter: a system has up to thousands of running jobs, and this runs in every planned round.
    times = np.fromiter((end[0] for end in ends), dtype=np.int64, count=count)
    return Releases(times.repeat(per_end), nodes, amounts)


class Counted(NamedTuple):
    """Number of equal units that fit now, and later as running jobs end, anywhere on the system.

    Attributes
    ----------
    total
        Units that fit once nothing runs any more.
    allocated
        Pairs of the seconds from now until a release, ascending, and the units that it frees.
    remaining
        Sum of the predicted remaining run times of running jobs, in seconds.
    """

    free: int
    total: int
    allocated: list[tuple[int, int]]
    remaining: int


def ends_of(problem: DispatchingProblem, *, overdue: bool) -> list[tuple[int, RunningJob]]:
    """Return the running jobs with their predicted ends in seconds, by end.

    `overdue` says whether a job that has outlived its prediction still holds its room.
    """
    now, running = problem.now, problem.running
    if overdue:
        ends = [(max(job.predicted_end_time, now + 1), job) for job in running]
    else:
        ends = [(job.start_time + job.waiting.predicted_run_time, job) for job in running]
    return sorted((end for end in ends if end[0] > now), key=itemgetter(0))


def equal_units(problem: DispatchingProblem, *, overdue: bool) -> Counted:
    """Return the units where all of the run are equal; `overdue`: see `ends_of`."""
    free = problem.free_units
    assert free is not None
    ends = [(end - problem.now, job.units) for end, job in ends_of(problem, overdue=overdue)]
    total = free + sum(job.units for job in problem.running)
    return Counted(free, total, ends, sum(end for end, _ in ends))


_NEVER = np.iinfo(np.int64).max

LITTLE = 4096
"""Queued jobs × nodes up to which it does not pay to leave nodes out, if plans only count them."""


class FutureEligibility:
    """Nodes that are down now or will be, and the nodes that jobs may use when they start later.

    A later start may use every node that the job was submitted for, except nodes that have failed,
    whose return is unknown.

    Attributes
    ----------
    back
        Time at which each node that is closed now is back, in seconds, `[N]`; now for all others.
        Of very many outages those furthest off are left out (see `MOST`).
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        now, count = problem.now, problem.system.node_count
        self._now = now
        self.back: IntArray = np.full(count, now, dtype=np.int64)
        self._known_until, single = _NEVER, 0
        for outage in problem.outages:
            nodes = np.array(outage.nodes, dtype=np.int64)
            if outage.start <= now:
                self.back[nodes] = np.maximum(self.back[nodes], outage.end)
            single += len(nodes)
            if single > MOST:  # the outages are by their start
                self._known_until = outage.start
                break
        used = np.zeros(count, dtype=np.bool_)
        for running in problem.running:
            used[list(running.allocation.nodes)] = True
        closed = self.back > now
        # Nothing runs there, no outage is announced, and yet nothing is free: it has failed.
        gone = ~used & ~closed & ~problem.free_amounts.any(axis=0)
        self._not_gone = frozenset((~gone).nonzero()[0].tolist()) if gone.any() else None
        self._left: dict[frozenset[int], frozenset[int]] = {}

    def request(self, job: WaitingJob) -> Request:
        """Return a job's request with the nodes that may be eligible to it later.

        The request of now is returned if the job ends after the first outage that plans may leave
        out (see `MOST`): what a plan starts now has to keep clear of all outages.
        """
        own = job.job.request
        if job.request == own or self._now + job.predicted_run_time > self._known_until:
            return job.request
        nodes, there = own.allowed_nodes, self._not_gone
        if nodes is not None and there is not None:
            if nodes not in self._left:
                self._left[nodes] = nodes & there
            return own._replace(allowed_nodes=self._left[nodes])
        return own._replace(allowed_nodes=there if nodes is None else nodes)


class FitCounts:
    """Number of units of a job that each node has room for, now and when idle; cached by shape.

    Nodes that announced outages close to the job now count as idle nodes too.

    Attributes
    ----------
    back_at
        Time at which each closed node is open again, in seconds, `[N]`; None without outages.
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        self._system = problem.system
        self._free = problem.free_amounts
        self._units_now: dict[ShapeKey, int] = {}
        self._counts: dict[tuple[bool, ShapeKey], IntArray] = {}
        self._later = FutureEligibility(problem) if problem.outages else None
        self.back_at = None if self._later is None else self._later.back

    def key(self, job: WaitingJob) -> tuple[ShapeKey, ShapeKey]:
        """Return the shapes of a job's request now and later, which its fit counts depend on."""
        now = shape_key(job.request)
        return now, now if self._later is None else shape_key(self._in_time(job))

    def now(self, job: WaitingJob) -> IntArray:
        """Return the units of a job that each node has room for now, `[N]`."""
        return self._count(job.request, idle=False)

    def units_now(self, job: WaitingJob) -> int:
        """Return the units of a job that fit on all nodes together now."""
        key = shape_key(job.request)
        if key not in self._units_now:
            self._units_now[key] = int(self.now(job).sum())
        return self._units_now[key]

    def idle(self, job: WaitingJob) -> IntArray:
        """Return the units of a job that each idle node has room for, `[N]`."""
        return self._count(self._in_time(job), idle=True)

    def _count(self, request: Request, *, idle: bool) -> IntArray:
        key = idle, shape_key(request)
        if key not in self._counts:
            amounts = self._system.capacity.T if idle else self._free
            self._counts[key] = units_that_fit(self._system, amounts, request)
        return self._counts[key]

    def _in_time(self, job: WaitingJob) -> Request:
        """Return the job's request, with the nodes that may be eligible to it later."""
        return job.request if self._later is None else self._later.request(job)


def chosen_nodes(
    jobs: Sequence[WaitingJob],
    fit_counts: FitCounts,
    releases: Releases,
    now: int,
    spare: float | None,
) -> IntArray:
    """Return the nodes to model, ascending: for each shape, the soonest free and fullest.

    Nodes are taken by the time of their last release, free ones first, until they would hold
    `spare` times the units of all jobs of the shape. As many nodes with room now are taken besides,
    the fullest first, so that small jobs need not break into empty ones. Leaving nodes out can only
    forbid plans, never allow wrong ones.

    Parameters
    ----------
    now
        The time of the round, in seconds.
    spare
        Multiple of the jobs' units for which there are nodes, at least 1, so that each job fits;
        None: all nodes that any job can use.
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
        needed = sum(job.units for job in alike) * spare
        begun = free.nonzero()[0]
        busy = ((idle > 0) & (free == 0)).nonzero()[0]
        most = int(needed) + 1  # nodes, as each counts for a unit at least
        # Sorting all busy nodes would dominate rounds on systems of 10,000 nodes and more.
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
