"""Compiled slack: moves reservations out of a job's way, none past its latest start."""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    CELL,
    FIRST_MADE,
    MADE_AFTER,
    NEVER,
    OTHER,
    PREDICTED,
    PROMISE,
    QUEUED,
    RESERVED,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State, Steps
from hpcsched.dispatching.core.job_kernels import share_of_wait
from hpcsched.dispatching.core.reservation_kernels import (
    cancel,
    drop_places,
    fits_beside,
    hold,
    note_place,
    reserve,
    start_beside,
    take_reserved,
)
from hpcsched.dispatching.core.state import ByNode, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def push_aside(
    row: int,
    now: int,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> bool:
    """Start a job now if the reservations in its way can be moved.

    Otherwise each reservation is restored. There must be room for the job now.

    Returns
    -------
    bool
        Whether the job has started.
    """
    jobs = state.jobs
    before = cancel(row, steps, profile, state)
    moved = numbers(state.counters[QUEUED])
    count = _clear_way(row, now, moved, steps, profile, state)
    moved[count] = row
    # Nodes are copied first, since making a reservation again overwrites them.
    places = _copy_places(moved, count + 1, state)
    starts = numbers(count + 1)
    for k in range(count):
        starts[k] = jobs[moved[k], RESERVED]
    starts[count] = before
    drop_places(row, state)
    hold(row, now, steps, profile, state)
    late, replaced = False, 0
    while replaced < count and not late:
        other = moved[replaced]
        late = reserve(other, now, NEVER, now, steps, profile, state) > _latest_start(other, state)
        jobs[row, OTHER] = other
        replaced += 1
    cancel(row, steps, profile, state)
    if not late:
        return start_beside(row, now, steps, profile, state, by_node, pressure)
    for k in range(replaced):
        cancel(moved[k], steps, profile, state)
    _note_copied(moved, count + 1, places, state)
    for k in range(count + 1):
        hold(moved[k], starts[k], steps, profile, state)
    return False


@compiled()
def _latest_start(row: int, state: State) -> int:
    """Return the latest start of a job, in seconds: its promise plus its slack."""
    promise = state.jobs[row, PROMISE]
    share = share_of_wait(row, promise, state.slack_share, state.jobs)
    return promise + state.least_slack + share


@compiled()
def _clear_way(
    row: int,
    now: int,
    moved: IntArray,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
) -> int:
    """Cancel the reservations that keep a job from starting now; return their number.

    All reservations in the job's time are made again in their order, except those beside which,
    together with those made before, the job does not fit. These are written to `moved`.
    """
    jobs, end = state.jobs, now + state.jobs[row, PREDICTED]
    other = state.counters[FIRST_MADE]
    while other != -1:
        if jobs[other, RESERVED] < end:
            take_reserved(other, -1, steps, profile, state)
        other = jobs[other, MADE_AFTER]
    count = 0
    other = state.counters[FIRST_MADE]
    while other != -1:
        after = jobs[other, MADE_AFTER]
        if jobs[other, RESERVED] < end:
            take_reserved(other, 1, steps, profile, state)
            if not fits_beside(row, now, steps, profile, state):
                cancel(other, steps, profile, state)
                moved[count] = other
                count += 1
        other = after
    return count


@compiled()
def _copy_places(rows: IntArray, count: int, state: State) -> IntArray:
    """Return the nodes noted for jobs and the units on each, job by job, with -1 behind each."""
    jobs, cells = state.jobs, state.cells
    size = count
    for k in range(count):
        cell = jobs[rows[k], CELL]
        while cell != -1:
            size += 2
            cell = cells[cell, 2]
    places = numbers(size)
    at = 0
    for k in range(count):
        cell = jobs[rows[k], CELL]
        while cell != -1:
            places[at], places[at + 1] = cells[cell, 0], cells[cell, 1]
            at += 2
            cell = cells[cell, 2]
        places[at] = -1
        at += 1
    return places


@compiled()
def _note_copied(rows: IntArray, count: int, places: IntArray, state: State) -> None:
    """Note the nodes of `_copy_places` for jobs."""
    for k in range(count):
        drop_places(rows[k], state)
    at = 0
    for k in range(count):
        while places[at] != -1:
            note_place(rows[k], places[at], places[at + 1], state)
            at += 2
        at += 1
