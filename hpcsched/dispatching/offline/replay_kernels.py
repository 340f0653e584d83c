"""Compiled: list scheduling on-line, where all jobs ask for equal units.

It is `list` with the option `backfill` and no limit on depth, for an order that does not change
with time: in each round every waiting job is planned anew, and those start that can start now.
"""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.row_kernels import reserve_on_row
from hpcsched.system.system import IntArray


@compiled()
def replay_list(
    rank: IntArray,
    submit: IntArray,
    demands: IntArray,
    run_times: IntArray,
    capacity: int,
    starts: IntArray,
) -> None:
    """Write the start of each job; jobs are numbered in order of submission.

    Parameters
    ----------
    rank
        Place of each job in the queue order, `[J]`.
    submit, run_times
        Submissions and run times in seconds, `[J]`.
    demands
        Slots of each job, `[J]`.
    capacity
        Number of slots.
    starts
        Receives the starts in seconds, `[J]`.
    """
    count = len(submit)
    queue, queued = np.empty(count, np.int64), 0  # by rank
    ends, slots, running = np.empty(count, np.int64), np.empty(count, np.int64), 0  # latest first
    times, free = np.empty(2 * count + 2, np.int64), np.empty(2 * count + 2, np.int64)
    upcoming, available = 0, capacity
    while upcoming < count or running:
        now = submit[upcoming] if upcoming < count else ends[running - 1]
        if running:
            now = min(now, ends[running - 1])
        while running and ends[running - 1] == now:
            running -= 1
            available += slots[running]
        while upcoming < count and submit[upcoming] == now:
            k = queued
            while k > 0 and rank[queue[k - 1]] > rank[upcoming]:
                queue[k] = queue[k - 1]
                k -= 1
            queue[k] = upcoming
            queued += 1
            upcoming += 1
        times[0], free[0], steps = now, available, 1
        for k in range(running - 1, -1, -1):
            if ends[k] != times[steps - 1]:
                times[steps] = ends[k]
                free[steps] = free[steps - 1]
                steps += 1
            free[steps - 1] += slots[k]
        # Only a job that would fit now can start, and what is free now only shrinks.
        last, left, k = queued - 1, 0, 0
        while k < queued:
            while last >= k and demands[queue[last]] > free[0]:
                last -= 1
            if last < k:
                break
            j = queue[k]
            k += 1
            start, steps = reserve_on_row(now, run_times[j], demands[j], steps, times, free)
            if start != now:
                queue[left] = j
                left += 1
                continue
            starts[j] = now
            available -= demands[j]
            i, end = running, now + run_times[j]
            while i > 0 and ends[i - 1] < end:
                ends[i] = ends[i - 1]
                slots[i] = slots[i - 1]
                i -= 1
            ends[i], slots[i] = end, demands[j]
            running += 1
        while k < queued:
            queue[left] = queue[k]
            left += 1
            k += 1
        queued = left
