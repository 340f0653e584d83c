"""Compiled: jobs planned one after another on what is free, and going back to an earlier state.

What is free is a pool of segments as in `plan_kernels`, or, where all jobs share one resource type
of one node, a row of segments in order of time: `start[k]`, and `free[k, 0]` until `start[k + 1]`.
`state[0]` counts the segments. Times are in steps from now.
"""

from typing import NamedTuple

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.list_kernels import plan_job_from
from hpcsched.system.system import IntArray


class Content(NamedTuple):
    """Jobs and nodes of `ModelData`, whether they are pooled, and what jobs draw from pools."""

    pooled: bool
    units: IntArray
    requests: IntArray
    run_times: IntArray
    room: IntArray
    capacity: IntArray
    totals: IntArray
    draws: IntArray


class Segments(NamedTuple):
    """What is free from now on."""

    start: IntArray
    after: IntArray
    free: IntArray
    state: IntArray


@compiled()
def plan_pooled(
    demand: int, run_time: int, start: IntArray, free: IntArray, state: IntArray
) -> int:
    """Give a job its earliest start on a row of segments, and return it.

    It takes arrays, as compiled code counts who refers to each array of a tuple that it looks into:
    of a search that took half of the time.
    """
    count = state[0]
    first = 0
    while True:
        while free[first, 0] < demand:
            first += 1
        end = start[first] + run_time
        last = first + 1
        while last < count and start[last] < end and free[last, 0] >= demand:
            last += 1
        if last == count or start[last] >= end:
            break
        first = last + 1
    if last == count or start[last] != end:
        for k in range(count, last, -1):
            start[k] = start[k - 1]
            free[k, 0] = free[k - 1, 0]
        start[last] = end
        free[last, 0] = free[last - 1, 0]
        state[0] = count + 1
    for k in range(first, last):
        free[k, 0] -= demand
    return start[first]


@compiled()
def plan(j: int, content: Content, segments: Segments, placed: IntArray) -> int:
    """Give a job its earliest start beside those planned before it, and return it."""
    if content.pooled:
        return plan_pooled(
            content.units[j] * content.requests[j, 0],
            content.run_times[j],
            segments.start,
            segments.free,
            segments.state,
        )
    return plan_job_from(
        0,
        j,
        content.units,
        content.requests,
        content.run_times,
        content.room,
        content.capacity,
        content.totals,
        content.draws,
        segments.start,
        segments.after,
        segments.free,
        segments.state,
        placed,
    )


class Kept(NamedTuple):
    """What a plan has come to before each position of an order, to go on from there.

    `start` and `after`, `[J, S]`, and `free`, `[J, S, R]`, are segments, of which `counts`, `[J]`,
    are in use; `paid` is what jobs so far cost, `ended` the last end.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    counts: IntArray
    paid: FloatArray
    ended: IntArray


@compiled()
def keep(given: Segments, kept: Kept, k: int) -> None:
    """Keep what is given as what goes before position `k`."""
    count = given.state[0]
    kept.counts[k] = count
    for s in range(count):
        kept.start[k, s] = given.start[s]
        kept.after[k, s] = given.after[s]
        for r in range(given.free.shape[1]):
            kept.free[k, s, r] = given.free[s, r]


@compiled()
def restore(kept: Kept, k: int, into: Segments) -> None:
    """Go back to what goes before position `k`."""
    count = kept.counts[k]
    into.state[0] = count
    for s in range(count):
        into.start[s] = kept.start[k, s]
        into.after[s] = kept.after[k, s]
        for r in range(into.free.shape[1]):
            into.free[s, r] = kept.free[k, s, r]
