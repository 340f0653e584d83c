"""Compiled starts of jobs: fit check, placement by the allocator, and allocation."""

from hpcsched.dispatching.core.array_kernels import shares
from hpcsched.dispatching.core.codes import (
    BEYOND_DEPTH,
    COMMITTED,
    COMMITTED_BACKFILL,
    EXTERNAL,
    FREE_SLOTS,
    NEVER,
    NO_ROOM,
    NOW,
    OTHER,
    PROMISE,
    QUEUED,
    RESERVED_FOR,
    SHAPE,
    SHORT_OF_SHARED,
    UNITS,
    WAITS,
    WHY,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.external_allocator import place_by_external, take_external_slots
from hpcsched.dispatching.core.fit_count_kernels import remove_waiting
from hpcsched.dispatching.core.job_kernels import begin, take_nodes
from hpcsched.dispatching.core.placement_kernels import place
from hpcsched.dispatching.core.shared_resource_kernels import (
    draw_for_start,
    shared_short_of,
    shared_suffice,
)
from hpcsched.dispatching.core.slot_kernels import take_lowest_slots
from hpcsched.dispatching.core.state import ByNode, Explains, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def fits_now(row: int, state: State, by_node: ByNode) -> bool:
    """Check whether a job fits now.

    Returns
    -------
    bool
        Whether nodes or slots, and shared resources, suffice.
    """
    units = state.jobs[row, UNITS]
    if by_node is None:
        return bool(units <= state.counters[FREE_SLOTS])
    fits = units <= state.fitting[state.jobs[row, SHAPE]]
    return bool(fits and shared_suffice(row, state.counters[NOW], state, state.shared_free))


@compiled()
def find_candidates(candidates: IntArray, state: State, by_node: ByNode) -> int:
    """Write the places in the queue of the jobs that fit by themselves; return their number."""
    queue = state.queue
    found = 0
    for k in range(len(candidates)):
        if fits_now(queue[k], state, by_node):
            candidates[found] = k
            found += 1
    return found


@compiled()
def choose_now(row: int, state: State, pressure: FloatArray) -> IntArray:
    """Return the allocator's placement of a job now, in units on each node, `[N]`."""
    shape = state.jobs[row, SHAPE]
    if state.allocator == EXTERNAL:
        return place_by_external(row, state.fits[shape], state.available, state)
    return place(
        state.allocator,
        state.jobs[row, UNITS],
        state.fits[shape],
        state.available,
        state.asked[shape],
        state.capacity,
        state.totals,
        pressure,
        state.scarce,
    )


@compiled()
def start_where_placed(row: int, placed: IntArray, now: int, state: State) -> None:
    """Start a job on given nodes.

    Parameters
    ----------
    placed
        Units on each node, `[N]`.
    """
    draw_for_start(row, placed, now, state, state.shared_free)
    begin(row, take_nodes(row, placed, state), now, state)
    remove_waiting(state.jobs[row, SHAPE], state)


@compiled()
def start(row: int, now: int, state: State, by_node: ByNode, pressure: FloatArray) -> None:
    """Start a job on nodes of the allocator's choice; where slots are counted, on free slots."""
    if by_node is not None:
        start_where_placed(row, choose_now(row, state, pressure), now, state)
        return
    units, shape = state.jobs[row, UNITS], state.jobs[row, SHAPE]
    if state.allocator == EXTERNAL:
        cell = take_external_slots(units, state)
    else:
        cell = take_lowest_slots(
            units, state.interval_low, state.interval_high, state.cells, state.counters
        )
    # Amounts are kept beside slots for the account of idle capacity.
    for r in range(len(state.free_amounts)):
        state.free_amounts[r] -= units * state.asked[shape, r]
    begin(row, cell, now, state)


@compiled()
def start_in_order(now: int, state: State, by_node: ByNode, pressure: FloatArray) -> int:
    """Start the first jobs of the queue, up to one that does not fit.

    Jobs chosen in earlier rounds come first, and are skipped in the second pass.

    Returns
    -------
    int
        Place of the first job that does not fit; the queue's length if all fit.
    """
    jobs, queue = state.jobs, state.queue
    place, count = 0, state.counters[QUEUED]
    chosen = state.rule in (COMMITTED, COMMITTED_BACKFILL)
    while place < count:
        row = queue[place]
        if jobs[row, WAITS] and (not chosen or jobs[row, PROMISE] != NEVER):
            if not fits_now(row, state, by_node):
                return place
            start(row, now, state, by_node, pressure)
        place += 1
        if chosen and place == count:
            place, chosen = 0, False
    return place


@compiled()
def note_wait(row: int, other: int, within: bool, state: State) -> None:
    """Note the reason why a job waits.

    Parameters
    ----------
    other
        Row of the job that it waits for; -1 if it waits for room.
    within
        Whether the limit on reservations is not reached.
    """
    jobs = state.jobs
    jobs[row, OTHER] = other
    if other != -1:
        jobs[row, WHY] = RESERVED_FOR
    elif within:
        jobs[row, WHY] = NO_ROOM
    else:
        jobs[row, WHY] = BEYOND_DEPTH


@compiled()
def note_shared_resource(row: int, state: State, shared_free: IntArray | None) -> None:
    """Note that a job waits for a shared resource, if nodes have room for it."""
    if shared_free is None:
        return
    jobs = state.jobs
    if jobs[row, WHY] == NO_ROOM and jobs[row, UNITS] <= state.fitting[jobs[row, SHAPE]]:
        short = shared_short_of(row, state.counters[NOW], state, shared_free)
        if short != -1:
            jobs[row, WHY] = SHORT_OF_SHARED
            jobs[row, OTHER] = short


@compiled()
def note_shared_resources(state: State, explains: Explains, shared_free: IntArray | None) -> None:
    """Note the jobs that wait for a shared resource after all starts, if reasons are requested."""
    if explains is None or shared_free is None:
        return
    for k in range(state.counters[QUEUED]):
        if state.jobs[state.queue[k], WAITS]:
            note_shared_resource(state.queue[k], state, shared_free)


@compiled()
def pressure_on(state: State) -> FloatArray:
    """Return the pressure on each resource type, `[R]`: requested plus allocated share."""
    pressure = shares(len(state.totals), 0.0)
    for r in range(len(state.totals)):
        if state.totals[r]:
            wanted = state.waiting_amounts[r] - state.held_amounts[r] + state.running_amounts[r]
            pressure[r] = wanted / state.totals[r]
    return pressure
