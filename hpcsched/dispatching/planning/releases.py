"""Releases: what comes free when running jobs end as predicted, by node, or as counted units."""

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob
from hpcsched.system.space import Allocation, NodeAllocation, units_that_fit
from hpcsched.system.system import IntArray, Request, System, shape_key

End = tuple[int, Allocation, Request]
"""Predicted end of an allocation in seconds, the allocation, and the request it serves."""

_NONE = np.empty(0, dtype=np.int64)


class Releases(NamedTuple):
    """`K` releases: at `times[k]`, ascending, `amounts[k]`, `[R]`, come free on `nodes[k]`."""

    times: IntArray
    nodes: IntArray
    amounts: IntArray


def releases_of(system: System, ends: Iterable[End]) -> Releases:
    """Return the releases of allocations, node by node, by time."""
    ends = sorted(ends, key=itemgetter(0))
    count = len(ends)
    arrays = [_arrays(allocation) for _, allocation, _ in ends]
    per_end = np.fromiter((len(nodes) for nodes, _ in arrays), dtype=np.int64, count=count)
    nodes = np.concatenate([_NONE, *(nodes for nodes, _ in arrays)])
    units = np.concatenate([_NONE, *(units for _, units in arrays)])
    asked = np.array([request.unit_request for _, _, request in ends], dtype=np.int64)
    amounts = asked.reshape(count, len(system.resource_types)).repeat(per_end, axis=0)
    amounts *= units[:, np.newaxis]
    exclusive = np.fromiter((end[2].exclusive for end in ends), dtype=np.bool_, count=count)
    if exclusive.any():  # what it holds is whole nodes
        whole = exclusive.repeat(per_end)
        amounts[whole] = system.capacity[nodes[whole]]
    # fromiter: a system has up to thousands of running jobs, and this runs in every planned round.
    times = np.fromiter((end[0] for end in ends), dtype=np.int64, count=count)
    return Releases(times.repeat(per_end), nodes, amounts)


def _arrays(allocation: Allocation) -> tuple[IntArray, IntArray]:
    """Return the nodes of an allocation and the units on them."""
    if not isinstance(allocation, NodeAllocation):
        allocation = NodeAllocation(allocation.nodes, allocation.units)
    return allocation.node_array, allocation.unit_array


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


def ends_of(
    problem: DispatchingProblem, *, overdue: bool, whole: bool = False
) -> list[tuple[int, RunningJob]]:
    """Return the running jobs with their predicted ends in seconds, by end.

    Parameters
    ----------
    overdue
        Whether a job that has outlived its prediction still holds its room; it is left out
        otherwise.
    whole
        Whether running jobs are taken to run for their whole predicted run time from now.
    """
    now, running = problem.now, problem.running
    if whole:
        ends = [(now + max(job.waiting.predicted_run_time, 1), job) for job in running]
    elif overdue:
        ends = [(max(job.predicted_end_time, now + 1), job) for job in running]
    else:
        ends = [(job.start_time + job.waiting.predicted_run_time, job) for job in running]
    return sorted((end for end in ends if end[0] > now), key=itemgetter(0))


def can_be_counted(problem: DispatchingProblem, step: int) -> bool:
    """Say whether counting waiting units is exact, though the problem has nodes.

    It is if all requests have one shape, whatever runs (see `cpp/rules/round_plan.hpp`), and no
    announced outage begins before all jobs could have run one after the other, in steps of `step`
    seconds.
    """
    first = problem.queue[0].request
    # Their units are not interchangeable between nodes, or need more than room on nodes.
    if first.exclusive or first.one_unit_per_node or problem.system.shared_resources:
        return False
    key = shape_key(first)
    if any(shape_key(job.request) != key for job in problem.queue):
        return False
    last = max((job.predicted_end_time for job in problem.running), default=problem.now)
    last += sum(job.predicted_run_time + step for job in problem.queue)
    return all(outage.start >= last for outage in problem.outages)


def counted_slots(problem: DispatchingProblem, *, overdue: bool, whole: bool = False) -> Counted:
    """Return the equal units of a problem of slots; `overdue` and `whole`: see `ends_of`."""
    assert problem.free_slots is not None
    free = sum(high - low for low, high in problem.free_slots)
    ends = [
        (end - problem.now, job.units)
        for end, job in ends_of(problem, overdue=overdue, whole=whole)
    ]
    total = free + sum(job.units for job in problem.running)
    return Counted(free, total, ends, sum(end for end, _ in ends))


def counted_units(problem: DispatchingProblem, *, overdue: bool, whole: bool = False) -> Counted:
    """Return the units of the queue's common shape that fit, now and after each release.

    Running jobs may have asked for anything else. `overdue`, `whole`: see `ends_of`.
    """
    assert problem.free_amounts is not None
    system, now, job = problem.system, problem.now, problem.queue[0].request
    on_idle = units_that_fit(system, system.capacity.T, job)
    ends = ends_of(problem, overdue=overdue, whole=whole)
    releases = releases_of(
        system, [(end, run.allocation, run.waiting.request) for end, run in ends]
    )
    # What is free beside those that still hold something: more than now, if some are left out.
    available = system.capacity.copy()
    np.subtract.at(available, releases.nodes, releases.amounts)
    gained = _units_gained(available, releases, job, on_idle).tolist()
    return Counted(
        int(units_that_fit(system, problem.free_amounts, job).sum()),
        int(on_idle.sum()),
        [(at - now, n) for at, n in zip(releases.times.tolist(), gained, strict=True) if n],
        sum(end - now for end, _ in ends),
    )


def _units_gained(
    available: IntArray, releases: Releases, request: Request, on_idle: IntArray
) -> IntArray:
    """Return the units that fit after each release beyond those that fit before it, `[K]`.

    `available`, `[N, R]`, is free before all of them; `on_idle`, `[N]`, counts the units that fit
    on idle nodes. Units that are alone on their nodes are not counted.
    """
    by_node = releases.nodes.argsort(kind="stable")
    nodes, amounts = releases.nodes[by_node], releases.amounts[by_node]
    if not len(nodes):
        return nodes
    asked = np.array(request.unit_request, dtype=np.int64)
    some = asked.nonzero()[0]

    def fits(nodes: IntArray, available: IntArray) -> IntArray:
        room: IntArray = (available[:, some] // asked[some]).min(axis=1)
        return np.minimum(room, on_idle[nodes])

    first = np.concatenate(([True], nodes[1:] != nodes[:-1])).nonzero()[0]
    released = amounts.cumsum(axis=0)
    others = (released[first] - amounts[first]).repeat(np.diff(first, append=len(nodes)), axis=0)
    after = fits(nodes, available[nodes] + released - others)
    # Releases are sorted by node, so the state before one is the state after the one to its left.
    before = np.roll(after, 1)
    before[first] = fits(nodes[first], available[nodes[first]])
    gained = np.empty_like(after)
    gained[by_node] = after - before
    return gained
