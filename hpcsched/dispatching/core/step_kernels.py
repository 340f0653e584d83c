"""Compiled list scheduling by number: free units as steps in time, whatever nodes they are on.

It is right where slots are counted, and where all jobs that wait ask for the same of a node.
"""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    CELL,
    FREE_SLOTS,
    PREDICTED,
    QUEUED,
    SHAPE,
    SHOWN_END,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.job_kernels import by_shown_end
from hpcsched.dispatching.core.room_kernels import room_on, take_from
from hpcsched.dispatching.core.row_kernels import (
    reserve_on_row,
    segments_within,
    take_segments,
)
from hpcsched.dispatching.core.start_kernels import start
from hpcsched.dispatching.core.state import ByNode, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def _open_steps(
    now: int,
    running: IntArray,
    shape: int,
    times: IntArray,
    free: IntArray,
    state: State,
    by_node: ByNode,
) -> int:
    """Write from when on how many units are free if `running` jobs end as shown; return steps."""
    jobs, cells = state.jobs, state.cells
    then, fits = state.available, state.fits[shape]
    times[0] = now
    if by_node is None:
        free[0] = state.counters[FREE_SLOTS]
    else:
        then, fits = then.copy(), fits.copy()
        free[0] = state.fitting[shape]
    steps = 1
    for row in running:
        end = jobs[row, SHOWN_END]
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
def backfill_by_count(
    now: int,
    at: int,
    candidates: IntArray,
    found: int,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> None:
    """Start or reserve, job by job, from place `at` in the queue on.

    It goes on as long as a job that could start now is still to come: `candidates` has the places
    of the `found` jobs that fit, each by itself.
    """
    jobs, queue = state.jobs, state.queue
    running = by_shown_end(now, state.correction, state)
    size = len(running) + 2 * (state.counters[QUEUED] - at) + 2
    times, free = numbers(size), numbers(size)
    steps = _open_steps(now, running, jobs[queue[at], SHAPE], times, free, state, by_node)
    reservations = 0
    while found and candidates[found - 1] >= at:
        row = queue[at]
        units, run_time = jobs[row, UNITS], jobs[row, PREDICTED]
        if candidates[found - 1] == at:
            found -= 1
        at += 1
        step = segments_within(now + run_time, units, steps, times, free)
        if step:
            steps = take_segments(0, step, now + run_time, units, steps, times, free)
            start(row, now, state, by_node, pressure)
        elif state.depth < 0 or reservations < state.depth:
            begins, steps = reserve_on_row(now, run_time, units, steps, times, free)
            reservations += 1
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
