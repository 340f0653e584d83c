"""Compiled list scheduling node by node, with a reservation for each job that has to wait."""

from hpcsched.dispatching.core.array_kernels import numbers, table
from hpcsched.dispatching.core.codes import NEVER, PREDICTED, QUEUED, SHAPE, UNITS, WAITS, WHEN
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State
from hpcsched.dispatching.core.node_profile_kernels import (
    close_ahead,
    fits_in_profile,
    open_profile,
    start_in_profile,
    take_placed,
)
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.profile_reservation_kernels import (
    earliest_beside_shared,
    place_reservation,
    reserve_unit,
)
from hpcsched.dispatching.core.row_kernels import is_beyond
from hpcsched.dispatching.core.shared_resource_kernels import (
    reserve_shared,
    shared_suffice,
)
from hpcsched.dispatching.core.start_kernels import (
    fits_now,
    note_shared_resource,
    note_wait,
    start_where_placed,
)
from hpcsched.dispatching.core.state import Explains, FloatArray
from hpcsched.system.system import IntArray

LOOKED_AT = 64
"""Number of earlier reservations of a round that bound the start of the next one."""


@compiled()
def _reserve_in_profile(
    row: int, release: int, now: int, profile: Profile, state: State, placed: IntArray
) -> int:
    """Reserve room for a job at the earliest possible time from `release` on, which is returned.

    It is `NEVER`, without a reservation, where no time within the window will do. Unless `placed`
    is empty, the units on each node are written to it, `[N]`.
    """
    if state.jobs[row, UNITS] == 1 and state.shared_free is None and state.window is None:
        begin = reserve_unit(row, release, NEVER, profile, state)
        for node in range(len(placed)):
            placed[node] = 1 if node == profile.used[1] and begin != NEVER else 0
        return begin
    start = earliest_beside_shared(row, release, NEVER, profile, state)
    if start == NEVER or is_beyond(start, now, state.window):
        for node in range(len(placed)):
            placed[node] = 0
        return NEVER
    reserved = place_reservation(row, start, profile, state)
    reserve_shared(row, start, 1, state, state.shared_free)
    for node in range(len(placed)):
        placed[node] = reserved[node]
    return start


@compiled()
def _not_before(row: int, now: int, reserved: IntArray, reservations: int, state: State) -> int:
    """Return a lower bound on the time at which a job fits.

    Within a round free capacity only shrinks. So a job cannot start before a job that asks for no
    more, and has a reservation from the same round; only the last few reservations are examined.
    """
    begin = now
    if state.shared_free is not None:
        return begin
    jobs = state.jobs
    shape, units, run_time = jobs[row, SHAPE], jobs[row, UNITS], jobs[row, PREDICTED]
    for k in range(max(reservations - LOOKED_AT, 0), reservations):
        other = reserved[k]
        if (
            jobs[other, SHAPE] == shape
            and jobs[other, UNITS] <= units
            and jobs[other, PREDICTED] <= run_time
        ):
            begin = max(begin, jobs[other, WHEN])
    return begin


@compiled()
def _first_conflict(
    row: int,
    now: int,
    reserved: IntArray,
    placed: IntArray,
    reservations: int,
    profile: Profile,
    state: State,
) -> int:
    """Return the first reserved row that keeps a job from starting now; -1 if none does.

    That is the first, in the order in which reservations were made, that leaves too little together
    with those before it. Each has `placed[k]`, `[N]`, units on nodes. Shared resources hold no
    reservations here.
    """
    jobs, found = state.jobs, -1
    without = Profile(profile.start, profile.after, profile.free.copy(), profile.used)
    # Without any reservation at first; they come back one by one, in the order of their making.
    for k in range(reservations):
        begin = jobs[reserved[k], WHEN]
        end = begin + jobs[reserved[k], PREDICTED]
        take_placed(reserved[k], placed[k], begin, end, -1, without, state)
    upto = 0
    while upto < reservations and found == -1:
        begin = jobs[reserved[upto], WHEN]
        end = begin + jobs[reserved[upto], PREDICTED]
        if begin < now + jobs[row, PREDICTED]:
            take_placed(reserved[upto], placed[upto], begin, end, 1, without, state)
            reserve_shared(reserved[upto], begin, 1, state, state.shared_free)
            if not shared_suffice(row, now, state, state.shared_free) or not fits_in_profile(
                row, now, without, state
            ):
                found = reserved[upto]
        upto += 1
    for k in range(upto):
        if jobs[reserved[k], WHEN] < now + jobs[row, PREDICTED]:
            reserve_shared(reserved[k], jobs[reserved[k], WHEN], -1, state, state.shared_free)
    return int(found)


@compiled()
def _note_wait(
    row: int,
    now: int,
    reserved: IntArray,
    placed: IntArray,
    reservations: int,
    within: bool,
    profile: Profile,
    state: State,
) -> None:
    """Note why a job waits, given the reservations."""
    jobs, other = state.jobs, -1
    # Whether there is room now is asked without what is kept for others of shared resources.
    for k in range(reservations):
        reserve_shared(reserved[k], jobs[reserved[k], WHEN], -1, state, state.shared_free)
    if fits_now(row, state, True):
        other = _first_conflict(row, now, reserved, placed, reservations, profile, state)
    note_wait(row, other, within, state)
    note_shared_resource(row, state, state.shared_free)
    for k in range(reservations):
        reserve_shared(reserved[k], jobs[reserved[k], WHEN], 1, state, state.shared_free)


@compiled()
def backfill_on_nodes(
    now: int,
    at: int,
    candidates: IntArray,
    found: int,
    state: State,
    explains: Explains,
    pressure: FloatArray,
) -> None:
    """Start or reserve, job by job, where jobs request unequal units; see `backfill_by_count`.

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
    profile = open_profile(now, by_shown_end(now, state.correction, state), state)
    close_ahead(now, profile, state, state.outage_nodes)
    reservations = 0
    kept = 0 if explains is None else count
    reserved, placed_for = numbers(count), table(kept, state.available.shape[1])
    reserving = numbers(0)
    # Without a job that could still start, reservations would hold nothing back.
    while at < count and (explains is not None or (found and candidates[found - 1] >= at)):
        row = queue[at]
        if found and candidates[found - 1] == at:
            found -= 1
        at += 1
        within = state.depth < 0 or reservations < state.depth
        if fits_now(row, state, True) and fits_in_profile(row, now, profile, state):
            placed = start_in_profile(row, now, profile, state, state.allocator, pressure)
            start_where_placed(row, placed, now, state)
        elif within:
            if explains is not None:
                _note_wait(row, now, reserved, placed_for, reservations, within, profile, state)
                reserving = placed_for[reservations]
            release = _not_before(row, now, reserved, reservations, state)
            start = _reserve_in_profile(row, release, now, profile, state, reserving)
            jobs[row, WHEN] = start
            if start != NEVER or state.window is None:
                reserved[reservations] = row
                reservations += 1
            # It begins when the last candidate would have ended: that one still fits.
            if found and start - now >= jobs[queue[candidates[found - 1]], PREDICTED]:
                continue
        else:
            if explains is not None:
                _note_wait(row, now, reserved, placed_for, reservations, within, profile, state)
            continue
        while found:
            row = queue[candidates[found - 1]]
            if (
                jobs[row, WAITS]
                and fits_now(row, state, True)
                and fits_in_profile(row, now, profile, state)
            ):
                break
            found -= 1
