"""Compiled list scheduling by count: free units as steps in time, regardless of nodes.

It is right where slots are counted, and where all jobs that wait ask for the same of a node. Any
free slot takes any unit, and units that are placed in order of their start times never conflict as
long as no instant needs more slots than there are (intervals with at most `k` at once can be
coloured with `k` colours in order of their starts). So a plan that holds by count can always be
carried out. Likewise units of one shape can be counted, whatever runs: on each node more and more
of them fit as running jobs end. Exclusive jobs are the exception, as the capacity that they take
depends on their placement; jobs with one unit per node, as a unit leaves room beside it for units
of others; and so is the time before an outage, when fewer and fewer fit.
"""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    CELL,
    FREE_SLOTS,
    NEVER,
    PREDICTED,
    QUEUED,
    SHAPE,
    SHOWN_END,
    UNITS,
    WHEN,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import room_on, take_from
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.row_kernels import (
    is_beyond,
    reserve_on_row,
    segments_within,
    take_on_row,
    take_segments,
)
from hpcsched.dispatching.core.start_kernels import fits_now, note_wait, start
from hpcsched.dispatching.core.state import ByNode, Explains, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def open_steps(
    now: int,
    running: IntArray,
    shape: int,
    times: IntArray,
    free: IntArray,
    state: State,
    by_node: ByNode,
) -> int:
    """Write the free units over time, given the ends of running jobs.

    Parameters
    ----------
    running
        Rows of running jobs, by the end that rules see.
    shape
        Shape of the units.
    times
        Starts of steps; written.
    free
        Free units of steps; written.

    Returns
    -------
    int
        Number of steps.
    """
    jobs, cells = state.jobs, state.cells
    then, fits = state.available, state.fits[shape]
    times[0] = now
    if by_node is None:
        free[0] = state.counters[FREE_SLOTS]
    else:
        # Copies: the nodes are emptied below, end by end.
        then, fits = then.copy(), fits.copy()
        free[0] = state.fitting[shape]
    steps = 1
    for row in running:
        end = jobs[row, SHOWN_END]
        # Ends come in order; those of one second share a step.
        if end != times[steps - 1]:
            times[steps] = end
            free[steps] = free[steps - 1]
            steps += 1
        if by_node is None:
            free[steps - 1] += jobs[row, UNITS]
            continue
        cell = jobs[row, CELL]
        while cell != -1:
            node = cells[cell, 0]
            take_from(node, cells[cell, 1], jobs[row, SHAPE], -1, then, state)
            more = room_on(node, shape, then, state) - fits[node]
            fits[node] += more
            free[steps - 1] += more
            cell = cells[cell, 2]
    return steps


@compiled()
def _first_conflict(
    row: int,
    now: int,
    reserved: IntArray,
    reservations: int,
    steps: int,
    times: IntArray,
    free: IntArray,
    state: State,
) -> int:
    """Return the first reserved row that keeps a job from starting now; -1 if none does.

    That is the first, in the order in which reservations were made, that leaves too little together
    with those before it.
    """
    jobs = state.jobs
    units, end = jobs[row, UNITS], now + jobs[row, PREDICTED]
    # What is free before the job's end, at first without any reservation.
    left = numbers(steps)
    for k in range(steps):
        left[k] = free[k]
        for i in range(reservations):
            begin = jobs[reserved[i], WHEN]
            if begin <= times[k] < begin + jobs[reserved[i], PREDICTED]:
                left[k] += jobs[reserved[i], UNITS]
    for i in range(reservations):
        begin = jobs[reserved[i], WHEN]
        for k in range(steps):
            if begin <= times[k] < min(begin + jobs[reserved[i], PREDICTED], end):
                left[k] -= jobs[reserved[i], UNITS]
                if left[k] < units:
                    return int(reserved[i])
    return -1


@compiled()
def backfill_by_count(
    now: int,
    at: int,
    candidates: IntArray,
    found: int,
    state: State,
    by_node: ByNode,
    explains: Explains,
    pressure: FloatArray,
) -> None:
    """Start or reserve, job by job, from place `at` in the queue on.

    It ends after the last job that could start now or, where reasons are requested, at the end of
    the queue.

    Parameters
    ----------
    at
        First place in the queue.
    candidates
        Places of the jobs that fit by themselves, ascending.
    found
        Number of candidates.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    running = by_shown_end(now, state.correction, state)
    # Each end makes a step, each reservation two at most.
    size = len(running) + 2 * (count - at) + 2
    times, free = numbers(size), numbers(size)
    steps = open_steps(now, running, jobs[queue[at], SHAPE], times, free, state, by_node)
    reservations = 0
    reserved = numbers(0 if explains is None else count)
    while at < count and (explains is not None or (found and candidates[found - 1] >= at)):
        row = queue[at]
        units, run_time = jobs[row, UNITS], jobs[row, PREDICTED]
        if found and candidates[found - 1] == at:
            found -= 1
        at += 1
        step = segments_within(now + run_time, units, steps, times, free)
        within = state.depth < 0 or reservations < state.depth
        if explains is not None and step == 0:
            other = -1
            if fits_now(row, state, by_node):
                other = _first_conflict(row, now, reserved, reservations, steps, times, free, state)
            note_wait(row, other, within, state)
        if step:
            steps = take_segments(0, step, now + run_time, units, steps, times, free)
            start(row, now, state, by_node, pressure)
        elif within:
            begins, steps = reserve_on_row(now, run_time, units, steps, times, free)
            if is_beyond(begins, now, state.window):
                end = begins + run_time
                steps = take_on_row(begins, end, -units, steps, times, free)
                begins = NEVER
            else:
                if explains is not None:
                    reserved[reservations] = row
                reservations += 1
            jobs[row, WHEN] = begins
            if found and begins - now >= jobs[queue[candidates[found - 1]], PREDICTED]:
                continue
        else:
            continue
        while found:
            row = queue[candidates[found - 1]]
            end = now + jobs[row, PREDICTED]
            if segments_within(end, jobs[row, UNITS], steps, times, free):
                break
            found -= 1
