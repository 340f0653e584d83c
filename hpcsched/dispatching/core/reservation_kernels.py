"""Compiled reservations that outlast a round: made, restored, cancelled and turned into starts.

They are part of a plan of the round: `steps` where units can be counted, otherwise a `profile` of
each node; the other of the two is None. Starts and nodes of reservations are carried from round to
round in the table of jobs (see `codes`).
"""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    CELL,
    FIRST_MADE,
    LAST_MADE,
    MADE_AFTER,
    MADE_BEFORE,
    NEVER,
    PREDICTED,
    QUEUED,
    RESERVED,
    SHAPE,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State, Steps
from hpcsched.dispatching.core.fit_count_kernels import allocated_on_node
from hpcsched.dispatching.core.node_profile_kernels import (
    fits_in_profile,
    make_room,
    start_in_profile,
)
from hpcsched.dispatching.core.plan_kernels import take_on
from hpcsched.dispatching.core.profile_reservation_kernels import (
    earliest_beside_shared,
    place_reservation,
    reserve_unit,
)
from hpcsched.dispatching.core.row_kernels import (
    least_on_row,
    reserve_on_row,
    segments_within,
    take_on_row,
)
from hpcsched.dispatching.core.shared_resource_kernels import reserve_shared, shared_suffice
from hpcsched.dispatching.core.slot_kernels import add_cell, drop_cells
from hpcsched.dispatching.core.start_kernels import fits_now, start, start_where_placed
from hpcsched.dispatching.core.state import ByNode, FloatArray
from hpcsched.dispatching.core.step_kernels import open_steps
from hpcsched.system.system import IntArray


@compiled()
def steps_of_round(now: int, running: IntArray, state: State, by_node: ByNode) -> Steps:
    """Return the free units over time, for units of the first job in the queue.

    Parameters
    ----------
    running
        Rows of running jobs, by the end that rules see.
    """
    # Each end makes a step, each reservation two at most.
    size = len(running) + 2 * state.counters[QUEUED] + 4
    steps = Steps(numbers(size), numbers(size), numbers(1))
    shape = state.jobs[state.queue[0], SHAPE]
    steps.used[0] = open_steps(now, running, shape, steps.start, steps.free, state, by_node)
    return steps


@compiled()
def _make_steps(steps: Steps) -> None:
    """Enlarge the steps, if needed, to hold two more."""
    used, size = steps.used[0], len(steps.start)
    if used + 2 <= size:
        return
    start, free = numbers(2 * size), numbers(2 * size)
    for k in range(used):
        start[k] = steps.start[k]
        free[k] = steps.free[k]
    steps.start, steps.free = start, free


@compiled()
def _take_steps(row: int, sign: int, steps: Steps, state: State) -> None:
    """Take the reserved units of a job from the steps (sign 1), or give them back (-1)."""
    jobs = state.jobs
    begin = jobs[row, RESERVED]
    end, units = begin + jobs[row, PREDICTED], sign * jobs[row, UNITS]
    _make_steps(steps)
    steps.used[0] = take_on_row(begin, end, units, steps.used[0], steps.start, steps.free)


@compiled()
def _take_nodes(row: int, sign: int, profile: Profile, state: State) -> None:
    """Take the reserved capacity of a job from its nodes (sign 1), or give it back (-1)."""
    jobs, cells, shape = state.jobs, state.cells, state.jobs[row, SHAPE]
    begin = jobs[row, RESERVED]
    end = begin + jobs[row, PREDICTED]
    amounts = numbers(len(state.totals))
    cell = jobs[row, CELL]
    while cell != -1:
        node, units = cells[cell, 0], cells[cell, 1]
        for r in range(len(amounts)):
            amounts[r] = sign * allocated_on_node(
                node, units, r, shape, state.asked, state.exclusive, state.capacity
            )
        make_room(profile, 2)
        take_on(node, begin, end, amounts, profile.start, profile.after, profile.free, profile.used)
        cell = cells[cell, 2]


@compiled()
def take_reserved(
    row: int, sign: int, steps: Steps | None, profile: Profile | None, state: State
) -> None:
    """Take a job's reservation from the plan, or give it back.

    Parameters
    ----------
    sign
        1 to take, -1 to give back.
    """
    if steps is not None:
        _take_steps(row, sign, steps, state)
    if profile is not None:
        _take_nodes(row, sign, profile, state)
        reserve_shared(row, state.jobs[row, RESERVED], sign, state, state.shared_free)


@compiled()
def keep_of_shared(sign: int, state: State, shared_free: IntArray | None) -> None:
    """Take the reservations of all jobs from shared resources (sign 1), or give them back (-1)."""
    if shared_free is None:
        return
    row = state.counters[FIRST_MADE]
    while row != -1:
        reserve_shared(row, state.jobs[row, RESERVED], sign, state, shared_free)
        row = state.jobs[row, MADE_AFTER]


@compiled()
def _note(row: int, state: State) -> None:
    """Append a reservation to the list of those of this round."""
    jobs, counters = state.jobs, state.counters
    last = counters[LAST_MADE]
    jobs[row, MADE_BEFORE], jobs[row, MADE_AFTER] = last, -1
    if last == -1:
        counters[FIRST_MADE] = row
    else:
        jobs[last, MADE_AFTER] = row
    counters[LAST_MADE] = row


@compiled()
def _forget(row: int, state: State) -> None:
    """Remove a reservation from the list of those of this round."""
    jobs, counters = state.jobs, state.counters
    before, after = jobs[row, MADE_BEFORE], jobs[row, MADE_AFTER]
    if before == -1:
        counters[FIRST_MADE] = after
    else:
        jobs[before, MADE_AFTER] = after
    if after == -1:
        counters[LAST_MADE] = before
    else:
        jobs[after, MADE_BEFORE] = before


@compiled()
def drop_places(row: int, state: State) -> None:
    """Delete the reserved nodes of a job."""
    drop_cells(state.jobs[row, CELL], state.cells, state.counters)
    state.jobs[row, CELL] = -1


@compiled()
def note_place(row: int, node: int, units: int, state: State) -> None:
    """Put a node and the units on it before the reserved nodes of a job."""
    cell = add_cell(node, units, state.cells, state.counters)
    state.cells[cell, 2] = state.jobs[row, CELL]
    state.jobs[row, CELL] = cell


@compiled()
def _note_places(row: int, placed: IntArray, state: State) -> None:
    """Store the reserved nodes of a job, given the units on each, `[N]`."""
    drop_places(row, state)
    for node in range(len(placed) - 1, -1, -1):
        if placed[node]:
            note_place(row, node, placed[node], state)


@compiled()
def reserve(
    row: int,
    release: int,
    latest: int,
    now: int,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
) -> int:
    """Reserve room for a job at the earliest time from `release` on.

    Parameters
    ----------
    release
        Earliest start, in seconds.
    latest
        Time at which it is known to fit, in seconds; `NEVER` if none is known.

    Returns
    -------
    int
        Start, in seconds; `NEVER`, without a reservation, if shared resources or nodes never
        suffice.
    """
    jobs = state.jobs
    begin = release
    if steps is not None:
        _make_steps(steps)
        begin, steps.used[0] = reserve_on_row(
            release, jobs[row, PREDICTED], jobs[row, UNITS], steps.used[0], steps.start, steps.free
        )
    if profile is not None:
        # One unit needs no sweep over all nodes' changes: each node is tried by itself.
        if jobs[row, UNITS] == 1 and release == now and state.shared_free is None:
            begin = reserve_unit(row, now, latest, profile, state)
            drop_places(row, state)
            if begin != NEVER:
                note_place(row, profile.used[1], 1, state)
        else:
            begin = earliest_beside_shared(row, release, latest, profile, state)
            if begin == NEVER:
                drop_places(row, state)
            else:
                _note_places(row, place_reservation(row, begin, profile, state), state)
                reserve_shared(row, begin, 1, state, state.shared_free)
    jobs[row, RESERVED] = begin
    if begin != NEVER:
        _note(row, state)
    return begin


@compiled()
def _stays_free(row: int, begin: int, profile: Profile, state: State) -> bool:
    """Check whether the nodes noted for a job have room for it from a time on."""
    jobs, cells, shape = state.jobs, state.cells, state.jobs[row, SHAPE]
    end = begin + jobs[row, PREDICTED]
    start, after, free = profile.start, profile.after, profile.free
    cell = jobs[row, CELL]
    while cell != -1:
        node, units = cells[cell, 0], cells[cell, 1]
        s = node
        while after[s] != -1 and start[after[s]] <= begin:
            s = after[s]
        while s != -1 and start[s] < end:
            for r in range(len(state.totals)):
                allocated = allocated_on_node(
                    node, units, r, shape, state.asked, state.exclusive, state.capacity
                )
                if free[s, r] < allocated:
                    return False
            s = after[s]
        cell = cells[cell, 2]
    return True


@compiled()
def hold(row: int, begin: int, steps: Steps | None, profile: Profile | None, state: State) -> bool:
    """Reserve room for a job from `begin` to its predicted end, if it fits.

    The nodes noted for the job are used if they have room, otherwise any nodes.

    Parameters
    ----------
    begin
        Start, in seconds; `NEVER` reserves nothing.

    Returns
    -------
    bool
        Whether it fits.
    """
    jobs = state.jobs
    jobs[row, RESERVED] = begin
    if begin == NEVER:
        return True
    if steps is not None:
        end = begin + jobs[row, PREDICTED]
        if least_on_row(begin, end, steps.used[0], steps.start, steps.free) < jobs[row, UNITS]:
            return False
        _take_steps(row, 1, steps, state)
    if profile is not None:
        if not shared_suffice(row, begin, state, state.shared_free):
            return False
        # The same nodes as before, if possible, so that other reservations need no change.
        if jobs[row, CELL] != -1 and _stays_free(row, begin, profile, state):
            _take_nodes(row, 1, profile, state)
        else:
            _note_places(row, place_reservation(row, begin, profile, state), state)
            if jobs[row, CELL] == -1:
                return False
        reserve_shared(row, begin, 1, state, state.shared_free)
    _note(row, state)
    return True


@compiled()
def cancel(row: int, steps: Steps | None, profile: Profile | None, state: State) -> int:
    """Cancel a job's reservation; its nodes stay noted, so that it can be restored.

    Returns
    -------
    int
        Start of the reservation, in seconds; `NEVER` without one.
    """
    if state.jobs[row, RESERVED] != NEVER:
        take_reserved(row, -1, steps, profile, state)
        _forget(row, state)
    return state.jobs[row, RESERVED]


@compiled()
def fits_beside(
    row: int, now: int, steps: Steps | None, profile: Profile | None, state: State
) -> bool:
    """Check whether a job that fits now fits until its predicted end, beside all reservations.

    Returns
    -------
    bool
        Whether it fits.
    """
    fits = True
    if steps is not None:
        end = now + state.jobs[row, PREDICTED]
        units = state.jobs[row, UNITS]
        fits = segments_within(end, units, steps.used[0], steps.start, steps.free) > 0
    if profile is not None:
        fits = shared_suffice(row, now, state, state.shared_free)
        fits = fits and fits_in_profile(row, now, profile, state)
    return fits


@compiled()
def start_beside(
    row: int,
    now: int,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> bool:
    """Start a job without a reservation now, if it respects all reservations.

    Returns
    -------
    bool
        Whether it has started.
    """
    if not fits_now(row, state, by_node) or not fits_beside(row, now, steps, profile, state):
        return False
    if steps is not None:
        state.jobs[row, RESERVED] = now
        _take_steps(row, 1, steps, state)
        start(row, now, state, by_node, pressure)
    if profile is not None:
        drop_places(row, state)
        placed = start_in_profile(row, now, profile, state, state.allocator, pressure)
        start_where_placed(row, placed, now, state)
    return True
