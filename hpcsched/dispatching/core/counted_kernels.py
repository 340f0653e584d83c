"""Compiled rules where slots are counted: the number that is free decides, not where it is."""

import numpy as np

from hpcsched.dispatching.core.codes import (
    EASY,
    FREE_SLOTS,
    GREEDY,
    PREDICTED,
    QUEUED,
    SHAPE,
    SHOWN_END,
    STRICT,
    UNITS,
    WAITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.job_kernels import begin, by_shown_end
from hpcsched.dispatching.core.slot_kernels import take_lowest_slots
from hpcsched.system.system import IntArray


@compiled()
def start_on_slots(row: int, now: int, state: State) -> None:
    """Start a job on the lowest free slots."""
    units, shape = state.jobs[row, UNITS], state.jobs[row, SHAPE]
    cell = take_lowest_slots(
        units, state.interval_low, state.interval_high, state.cells, state.counters
    )
    for r in range(len(state.free_amounts)):
        state.free_amounts[r] -= units * state.asked[shape, r]
    begin(row, cell, now, state)


@compiled()
def _find_candidates(candidates: IntArray, state: State) -> int:
    """Write the places in the queue of the jobs that fit, each by itself; return how many."""
    jobs, queue, free = state.jobs, state.queue, state.counters[FREE_SLOTS]
    found = 0
    for k in range(len(candidates)):
        if jobs[queue[k], UNITS] <= free:
            candidates[found] = k
            found += 1
    return found


@compiled()
def _start_in_order(now: int, state: State) -> int:
    """Start the first jobs of the queue, up to one that does not fit; return its place."""
    counters, place = state.counters, 0
    count = counters[QUEUED]
    while place < count and state.jobs[state.queue[place], UNITS] <= counters[FREE_SLOTS]:
        start_on_slots(state.queue[place], now, state)
        place += 1
    return place


@compiled()
def decide_by_count(now: int, state: State) -> None:
    """Start what the rule starts now."""
    counters, jobs, queue, count = state.counters, state.jobs, state.queue, state.counters[QUEUED]
    candidates = np.empty(count, np.int64)
    found = _find_candidates(candidates, state)
    if found == 0:
        return
    at = _start_in_order(now, state)
    free = counters[FREE_SLOTS]
    while found and (
        candidates[found - 1] <= at or jobs[queue[candidates[found - 1]], UNITS] > free
    ):
        found -= 1
    if found == 0 or state.rule == STRICT:
        return
    if state.rule == EASY:
        _pass_head_job(now, at, candidates[found - 1], state)
    elif state.rule == GREEDY:
        for k in range(at + 1, count):
            if jobs[queue[k], UNITS] <= counters[FREE_SLOTS]:
                start_on_slots(queue[k], now, state)
    else:
        _backfill(now, at, candidates, found, state)


@compiled()
def _pass_head_job(now: int, place: int, last: int, state: State) -> None:
    """Start jobs behind the head job of EASY, at a place in the queue, that do not delay it.

    `last` is the place of the last job that fits by itself.
    """
    counters, jobs, queue = state.counters, state.jobs, state.queue
    count = counters[QUEUED]
    # The shadow time: the earliest at which the head job fits, all ends of that instant counted.
    time, spare = now, counters[FREE_SLOTS] - jobs[queue[place], UNITS]
    for row in by_shown_end(now, state.correction, state):
        if jobs[row, SHOWN_END] != time:
            if spare >= 0:
                break
            time = jobs[row, SHOWN_END]
        spare += jobs[row, UNITS]
    head = queue[place]
    if state.own_backfill_order:
        queue, place, last = state.behind, -1, count - 1
    for k in range(place + 1, last + 1):
        row = queue[k]
        units = jobs[row, UNITS]
        if units > counters[FREE_SLOTS] or jobs[row, WAITS] == 0 or row == head:
            continue
        if now + jobs[row, PREDICTED] > time:
            if units > spare:
                continue
            spare -= units
        start_on_slots(row, now, state)


@compiled()
def steps_within(end: int, units: int, steps: int, times: IntArray, free: IntArray) -> int:
    """Return how many steps of a profile begin before `end`; 0 if one has less than `units` free.

    `free[k]` slots are free from `times[k]` to before `times[k + 1]`.
    """
    step = 0
    while step < steps and times[step] < end:
        if free[step] < units:
            return 0
        step += 1
    return step


@compiled()
def take_steps(
    first: int, step: int, end: int, units: int, steps: int, times: IntArray, free: IntArray
) -> int:
    """Take units from step `first` to `end`, which lies in or at the end of step `step - 1`.

    Return how many steps there are then.
    """
    if step == steps or times[step] != end:
        for k in range(steps, step, -1):
            times[k] = times[k - 1]
            free[k] = free[k - 1]
        times[step] = end
        free[step] = free[step - 1]
        steps += 1
    for k in range(first, step):
        free[k] -= units
    return steps


@compiled()
def reserve_by_count(
    run_time: int, units: int, steps: int, times: IntArray, free: IntArray
) -> tuple[int, int]:
    """Take units at the earliest time that as many stay free for a run time.

    Return that time, and how many steps there are then. All of the system is free in the end.
    """
    first = 0
    while True:
        while free[first] < units:
            first += 1
        end, step = times[first] + run_time, first + 1
        while step < steps and times[step] < end and free[step] >= units:
            step += 1
        if step == steps or times[step] >= end:
            break
        first = step + 1
    start = times[first]
    return start, take_steps(first, step, end, units, steps, times, free)


@compiled()
def _backfill(now: int, place: int, candidates: IntArray, found: int, state: State) -> None:
    """Start or reserve, job by job, from a place in the queue on.

    It goes on as long as a job that could start now is still to come: `candidates` has the places
    of the `found` jobs that fit, each by itself.
    """
    counters, jobs, queue = state.counters, state.jobs, state.queue
    running = by_shown_end(now, state.correction, state)
    size = len(running) + 2 * (counters[QUEUED] - place) + 2
    times, free = np.empty(size, np.int64), np.empty(size, np.int64)
    times[0], free[0] = now, counters[FREE_SLOTS]
    steps = 1
    for row in running:
        end = jobs[row, SHOWN_END]
        if end != times[steps - 1]:
            times[steps] = end
            free[steps] = free[steps - 1]
            steps += 1
        free[steps - 1] += jobs[row, UNITS]
    reservations = 0
    while found and candidates[found - 1] >= place:
        row = queue[place]
        units, run_time = jobs[row, UNITS], jobs[row, PREDICTED]
        place += 1
        if candidates[found - 1] == place - 1:
            found -= 1
        first_free = now
        step = steps_within(now + run_time, units, steps, times, free)
        if step:
            steps = take_steps(0, step, now + run_time, units, steps, times, free)
            start_on_slots(row, now, state)
        elif state.depth < 0 or reservations < state.depth:
            first_free, steps = reserve_by_count(run_time, units, steps, times, free)
            reservations += 1
            if found and first_free - now >= jobs[queue[candidates[found - 1]], PREDICTED]:
                continue
        else:
            continue
        while found:
            row = queue[candidates[found - 1]]
            end = now + jobs[row, PREDICTED]
            if steps_within(end, jobs[row, UNITS], steps, times, free):
                break
            found -= 1
