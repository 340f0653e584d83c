"""Compiled: jobs planned one after another, none before its submission.

What is free is as in `segment_kernels`. It may come to an end: where nothing is free for ever, a
job that fits no sooner is not planned.
"""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.plan_kernels import NEVER
from hpcsched.dispatching.planning.list_kernels import plan_job_from
from hpcsched.dispatching.search.segment_kernels import Content, Segments
from hpcsched.system.system import IntArray


@compiled()
def first_from(time: int, start: IntArray, count: int) -> int:
    """Return the number of the first of `count` ascending values that is not below `time`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if start[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled()
def _insert(at: int, time: int, segments: Segments) -> None:
    """Split the segment before number `at`, so that one begins at `time`."""
    start, free, state = segments.start, segments.free, segments.state
    for k in range(state[0], at, -1):
        start[k] = start[k - 1]
        free[k, 0] = free[k - 1, 0]
    start[at] = time
    free[at, 0] = free[at - 1, 0]
    state[0] += 1


@compiled()
def _plan_pooled_from(release: int, demand: int, run_time: int, segments: Segments) -> int:
    """Give a job its earliest start from `release` on, on a row of segments; NEVER if none."""
    start, free, state = segments.start, segments.free, segments.state
    count = state[0]
    first = first_from(release + 1, start, count) - 1
    while True:
        while first < count and free[first, 0] < demand:
            first += 1
        if first == count:
            return NEVER
        begin = max(start[first], release)
        end = begin + run_time
        last = first + 1
        while last < count and start[last] < end and free[last, 0] >= demand:
            last += 1
        if last == count or start[last] >= end:
            break
        first = last + 1
    if last == count or start[last] != end:
        _insert(last, end, segments)
    if start[first] != begin:
        first += 1
        last += 1
        _insert(first, begin, segments)
    for k in range(first, last):
        free[k, 0] -= demand
    return begin


@compiled()
def plan_from(release: int, j: int, content: Content, segments: Segments, placed: IntArray) -> int:
    """Give a job its earliest start from `release` on beside those planned; NEVER if none.

    Writes into row `j` of `placed`, `[J, N]`, which is 0, how many units go to which node, if there
    are nodes to tell apart.
    """
    if content.pooled:
        return _plan_pooled_from(
            release, content.units[j] * content.requests[j, 0], content.run_times[j], segments
        )
    return plan_job_from(
        release,
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


@compiled()
def open_segments(time: int, content: Content, size: int) -> Segments:
    """Return room for `size` segments, of which the first say that all is free from `time` on."""
    nodes, types = content.capacity.shape
    segments = Segments(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, types), np.int64),
        np.empty(1, np.int64),
    )
    segments.state[0] = nodes
    for n in range(nodes):
        segments.start[n] = time
        segments.after[n] = -1
        for r in range(types):
            segments.free[n, r] = content.capacity[n, r]
    return segments


@compiled()
def plan_all(
    order: IntArray,
    submit: IntArray,
    content: Content,
    size: int,
    starts: IntArray,
    placed: IntArray,
) -> bool:
    """Plan all jobs in an order, each as early as it can be beside those before it.

    Writes into `starts`, `[J]`, in seconds from the origin, and `placed`, `[J, N]`, which is 0;
    answers whether all could be planned. `size` segments are enough.
    """
    segments = open_segments(0, content, size)
    for j in order:
        starts[j] = plan_from(submit[j], j, content, segments, placed)
        if starts[j] == NEVER:
            return False
    return True
