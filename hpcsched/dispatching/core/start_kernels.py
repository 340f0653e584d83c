"""Compiled starts of jobs: what fits now, where the allocator puts it, and taking that room."""

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
    SHORT_OF_POOL,
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
from hpcsched.dispatching.core.pool_kernels import draw_for_start, pool_short_of, pools_suffice
from hpcsched.dispatching.core.slot_kernels import take_lowest_slots
from hpcsched.dispatching.core.state import ByNode, Explains, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def fits_now(row: int, state: State, by_node: ByNode) -> bool:
    """Say whether a job could be placed now."""
    units = state.jobs[row, UNITS]
    if by_node is None:
        return bool(units <= state.counters[FREE_SLOTS])
    fits = units <= state.fitting[state.jobs[row, SHAPE]]
    return bool(fits and pools_suffice(row, state.counters[NOW], state, state.pool_free))


@compiled()
def find_candidates(candidates: IntArray, state: State, by_node: ByNode) -> int:
    """Write the places in the queue of the jobs that fit, each by itself; return how many."""
    queue = state.queue
    found = 0
    for k in range(len(candidates)):
        if fits_now(queue[k], state, by_node):
            candidates[found] = k
            found += 1
    return found


@compiled()
def choose_now(row: int, state: State, pressure: FloatArray) -> IntArray:
    """Return how many units of a job the allocator would place on each node now, `[N]`."""
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
    """Start a job with `placed`, `[N]`, units on each node."""
    draw_for_start(row, placed, now, state, state.pool_free)
    begin(row, take_nodes(row, placed, state), now, state)
    remove_waiting(state.jobs[row, SHAPE], state)


@compiled()
def start(row: int, now: int, state: State, by_node: ByNode, pressure: FloatArray) -> None:
    """Start a job where the allocator says; where slots are counted, on the lowest free ones."""
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
    for r in range(len(state.free_amounts)):
        state.free_amounts[r] -= units * state.asked[shape, r]
    begin(row, cell, now, state)


@compiled()
def start_in_order(now: int, state: State, by_node: ByNode, pressure: FloatArray) -> int:
    """Start the first jobs of the queue, up to one that does not fit; return its place.

    Jobs that rounds before have chosen come first, and are passed over in a second turn.
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
    """Note why a job waits: for the `other` row, or, where that is -1, for room.

    `within` says whether reservations are left for it.
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
def note_pool(row: int, state: State, pool_free: IntArray | None) -> None:
    """Note that a job waits for a pool if that is so: nodes have room for it."""
    if pool_free is None:
        return
    jobs = state.jobs
    if jobs[row, WHY] == NO_ROOM and jobs[row, UNITS] <= state.fitting[jobs[row, SHAPE]]:
        short = pool_short_of(row, state.counters[NOW], state, pool_free)
        if short != -1:
            jobs[row, WHY] = SHORT_OF_POOL
            jobs[row, OTHER] = short


@compiled()
def note_pools(state: State, explains: Explains, pool_free: IntArray | None) -> None:
    """Note which jobs wait for a pool once all has been started, where reasons are wanted."""
    if explains is None or pool_free is None:
        return
    for k in range(state.counters[QUEUED]):
        if state.jobs[state.queue[k], WAITS]:
            note_pool(state.queue[k], state, pool_free)


@compiled()
def pressure_on(state: State) -> FloatArray:
    """Return what shown jobs ask for and others hold, as a share of the system, `[R]`."""
    pressure = shares(len(state.totals), 0.0)
    for r in range(len(state.totals)):
        if state.totals[r]:
            wanted = state.waiting_amounts[r] - state.held_amounts[r] + state.running_amounts[r]
            pressure[r] = wanted / state.totals[r]
    return pressure
