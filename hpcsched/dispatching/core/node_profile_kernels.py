"""Compiled plans of jobs that ask for unlike units: what is free on each node from now on.

The segments of a plan are those of `hpcsched.dispatching.core.plan_kernels`.
"""

from hpcsched.dispatching.core.array_kernels import numbers, shares, table, zeros
from hpcsched.dispatching.core.codes import (
    CELL,
    EXTERNAL,
    KEEP_SCARCE,
    NEVER,
    PREDICTED,
    QUEUED,
    REACH,
    SHAPE,
    SHOWN_END,
    UNITS,
    WAITS,
    WHEN,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State
from hpcsched.dispatching.core.external_allocator import place_by_external
from hpcsched.dispatching.core.job_kernels import by_shown_end
from hpcsched.dispatching.core.placement_kernels import place
from hpcsched.dispatching.core.plan_kernels import (
    close,
    earliest,
    find_lowest,
    fits_until,
    reserve_one,
    take_on,
)
from hpcsched.dispatching.core.pool_kernels import (
    earliest_in_pools,
    pools_suffice,
    reserve_in_pools,
)
from hpcsched.dispatching.core.room_kernels import held_on_node
from hpcsched.dispatching.core.start_kernels import (
    fits_now,
    note_pool,
    note_wait,
    start_where_placed,
)
from hpcsched.dispatching.core.state import Explains, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def make_room(profile: Profile, segments: int) -> None:
    """Make sure that a profile has room for so many more segments."""
    used, size = profile.used[0], len(profile.start)
    if used + segments <= size:
        return
    larger = size + max(size, segments)
    start, after = numbers(larger), numbers(larger)
    free = table(larger, profile.free.shape[1])
    for k in range(used):
        start[k] = profile.start[k]
        after[k] = profile.after[k]
        for r in range(free.shape[1]):
            free[k, r] = profile.free[k, r]
    profile.start, profile.after, profile.free = start, after, free


@compiled()
def open_profile(now: int, running: IntArray, state: State) -> Profile:
    """Return what is free on each node from now on if `running` jobs end as they are shown."""
    types, nodes = state.available.shape
    jobs, cells = state.jobs, state.cells
    size = nodes
    for row in running:
        cell = jobs[row, CELL]
        while cell != -1:
            size += 1
            cell = cells[cell, 2]
    # Twice as many as there may be at first, so that most reservations find room.
    size = 2 * size + 8
    start, after = numbers(size), numbers(size)
    free = table(size, types)
    last = numbers(nodes)
    for node in range(nodes):
        last[node] = node
        start[node] = now
        after[node] = -1
        for r in range(types):
            free[node, r] = state.available[r, node]
    count = nodes
    for row in running:
        end = jobs[row, SHOWN_END]
        cell = jobs[row, CELL]
        while cell != -1:
            node = cells[cell, 0]
            segment = last[node]
            if start[segment] != end:
                start[count] = end
                after[count] = -1
                for r in range(types):
                    free[count, r] = free[segment, r]
                after[segment] = last[node] = count
                segment = count
                count += 1
            for r in range(types):
                free[segment, r] += held_on_node(
                    node,
                    cells[cell, 1],
                    r,
                    jobs[row, SHAPE],
                    state.asked,
                    state.exclusive,
                    state.capacity,
                )
            cell = cells[cell, 2]
    used = numbers(2)
    used[0], used[1] = count, -1
    return Profile(start, after, free, used)


@compiled()
def close_ahead(now: int, profile: Profile, state: State, outage_nodes: IntArray | None) -> None:
    """Have nothing be free on nodes while announced outages take them."""
    if outage_nodes is None:
        return
    for k in range(len(state.outage_start)):
        start = state.outage_start[k]
        if now < start < state.counters[REACH]:
            nodes = outage_nodes[state.outage_first[k] : state.outage_first[k + 1]]
            make_room(profile, 2 * len(nodes))
            close(
                start,
                state.outage_end[k],
                nodes,
                profile.start,
                profile.after,
                profile.free,
                profile.used,
            )


@compiled()
def fits_in_profile(row: int, now: int, profile: Profile, state: State) -> bool:
    """Say whether room for a job stays free from now to its predicted end."""
    shape = state.jobs[row, SHAPE]
    return bool(
        fits_until(
            now + state.jobs[row, PREDICTED],
            state.jobs[row, UNITS],
            profile.start,
            profile.after,
            profile.free,
            state.asked[shape],
            state.on_idle[shape],
            state.exclusive[shape],
            state.capacity,
        )
    )


@compiled()
def place_between(
    row: int,
    begin: int,
    end: int,
    allocator: int,
    pressure: FloatArray,
    profile: Profile,
    state: State,
) -> IntArray:
    """Place a job on what stays free from `begin` to `end`, and take it.

    Return how many units are on each node, `[N]`: none if it does not fit.
    """
    shape = state.jobs[row, SHAPE]
    asked, on_idle, exclusive = state.asked[shape], state.on_idle[shape], state.exclusive[shape]
    lowest = table(len(asked), len(on_idle))
    find_lowest(begin, end, profile.start, profile.after, profile.free, lowest)
    fits = numbers(len(on_idle))
    room = 0
    for node in range(len(fits)):
        fits[node] = on_idle[node]
        for r in range(len(asked)):
            if exclusive:
                if lowest[r, node] != state.capacity[node, r]:
                    fits[node] = 0
            elif asked[r]:
                fits[node] = min(fits[node], lowest[r, node] // asked[r])
        room += fits[node]
    units = state.jobs[row, UNITS]
    if room < units:
        return zeros(len(fits))
    if allocator == EXTERNAL:
        placed = place_by_external(row, fits, lowest, state)
    else:
        placed = place(
            allocator,
            units,
            fits,
            lowest,
            asked,
            state.capacity,
            state.totals,
            pressure,
            state.critical,
        )
    count = 0
    for node in range(len(placed)):
        if placed[node]:
            count += 1
    make_room(profile, 2 * count)
    _take_placed(row, placed, begin, end, 1, profile, state)
    return placed


@compiled()
def _take_placed(
    row: int, placed: IntArray, begin: int, end: int, sign: int, profile: Profile, state: State
) -> None:
    """Take the room of `placed`, `[N]`, units of a job for a time; put it back with the sign -1."""
    shape = state.jobs[row, SHAPE]
    amounts = numbers(len(state.totals))
    for node in range(len(placed)):
        if placed[node]:
            for r in range(len(amounts)):
                amounts[r] = sign * held_on_node(
                    node, placed[node], r, shape, state.asked, state.exclusive, state.capacity
                )
            take_on(
                node, begin, end, amounts, profile.start, profile.after, profile.free, profile.used
            )


@compiled()
def start_in_profile(
    row: int,
    now: int,
    profile: Profile,
    state: State,
    allocator: int,
    pressure: FloatArray,
) -> IntArray:
    """Take the room of a job that starts now; return how many units are on each node, `[N]`."""
    end = now + state.jobs[row, PREDICTED]
    return place_between(row, now, end, allocator, pressure, profile, state)


@compiled()
def reserve_unit(row: int, profile: Profile, state: State) -> int:
    """Reserve room for a job of one unit at the earliest time from now on; return that time.

    Which node it is on is then in `profile.used[1]`.
    """
    jobs = state.jobs
    shape = jobs[row, SHAPE]
    make_room(profile, 2)
    return reserve_one(
        jobs[row, PREDICTED],
        profile.start,
        profile.after,
        profile.free,
        profile.used,
        state.asked[shape],
        state.on_idle[shape],
        state.exclusive[shape],
        state.capacity,
        state.totals,
    )


@compiled()
def earliest_in_profile(row: int, release: int, profile: Profile, state: State) -> int:
    """Return the earliest time from `release` on that a job has room for its predicted run time."""
    jobs = state.jobs
    shape = jobs[row, SHAPE]
    return earliest(
        release,
        jobs[row, UNITS],
        jobs[row, PREDICTED],
        profile.used[0],
        profile.start,
        profile.after,
        profile.free,
        state.asked[shape],
        state.on_idle[shape],
        state.exclusive[shape],
        state.capacity,
    )


@compiled()
def place_reservation(row: int, begin: int, profile: Profile, state: State) -> IntArray:
    """Reserve room from a time on; return how many units are on each node, `[N]`: none if none is.

    Which nodes a reservation is on need not be the allocator's choice, so it is placed as
    `KeepScarce` would do without knowing of a round.
    """
    pressure = shares(len(state.totals), 1.0)
    end = begin + state.jobs[row, PREDICTED]
    return place_between(row, begin, end, KEEP_SCARCE, pressure, profile, state)


@compiled()
def earliest_beside_pools(row: int, now: int, profile: Profile, state: State) -> int:
    """Return the earliest time at which nodes and pools have enough for a job; `NEVER` if none.

    Each is asked in turn from where the other has enough, until both agree.
    """
    start = earliest_in_profile(row, now, profile, state)
    while start != NEVER:
        later = earliest_in_pools(row, start, state, state.pool_free)
        if later == start:
            break
        start = later
        if start != NEVER:
            start = earliest_in_profile(row, start, profile, state)
    return start


@compiled()
def _reserve_in_profile(
    row: int, now: int, profile: Profile, state: State, placed: IntArray
) -> int:
    """Reserve room at the earliest time that it stays free for the predicted run time.

    Return that time. Unless `placed` is empty, how many units are on each node is written there,
    `[N]`.
    """
    if state.jobs[row, UNITS] == 1 and state.pool_free is None:
        begin = reserve_unit(row, profile, state)
        for node in range(len(placed)):
            placed[node] = 1 if node == profile.used[1] and begin != NEVER else 0
        return begin
    start = earliest_beside_pools(row, now, profile, state)
    if start == NEVER:
        for node in range(len(placed)):
            placed[node] = 0
        return NEVER
    reserved = place_reservation(row, start, profile, state)
    reserve_in_pools(row, start, 1, state, state.pool_free)
    for node in range(len(placed)):
        placed[node] = reserved[node]
    return start


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
    """Return the first of the reserved rows beside which a job cannot start now; -1 if none.

    That is the first, in the order in which reservations were made, that leaves too little with
    those before it. Each has `placed[k]`, `[N]`, units on nodes. Of pools nothing is kept for any.
    """
    jobs, found = state.jobs, -1
    without = Profile(profile.start, profile.after, profile.free.copy(), profile.used)
    for k in range(reservations):
        begin = jobs[reserved[k], WHEN]
        end = begin + jobs[reserved[k], PREDICTED]
        _take_placed(reserved[k], placed[k], begin, end, -1, without, state)
    upto = 0
    while upto < reservations and found == -1:
        begin = jobs[reserved[upto], WHEN]
        end = begin + jobs[reserved[upto], PREDICTED]
        if begin < now + jobs[row, PREDICTED]:
            _take_placed(reserved[upto], placed[upto], begin, end, 1, without, state)
            reserve_in_pools(reserved[upto], begin, 1, state, state.pool_free)
            if not pools_suffice(row, now, state, state.pool_free) or not fits_in_profile(
                row, now, without, state
            ):
                found = reserved[upto]
        upto += 1
    for k in range(upto):
        if jobs[reserved[k], WHEN] < now + jobs[row, PREDICTED]:
            reserve_in_pools(reserved[k], jobs[reserved[k], WHEN], -1, state, state.pool_free)
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
    """Note why a job waits, beside the reservations that there are."""
    jobs, other = state.jobs, -1
    # Whether there is room now is asked without what is kept for others of pools.
    for k in range(reservations):
        reserve_in_pools(reserved[k], jobs[reserved[k], WHEN], -1, state, state.pool_free)
    if fits_now(row, state, True):
        other = _first_conflict(row, now, reserved, placed, reservations, profile, state)
    note_wait(row, other, within, state)
    note_pool(row, state, state.pool_free)
    for k in range(reservations):
        reserve_in_pools(reserved[k], jobs[reserved[k], WHEN], 1, state, state.pool_free)


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
    """Start or reserve, job by job, where jobs ask for unlike units; see `backfill_by_count`."""
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    profile = open_profile(now, by_shown_end(now, state.correction, state), state)
    close_ahead(now, profile, state, state.outage_nodes)
    reservations = 0
    kept = 0 if explains is None else count
    reserved, placed_for = numbers(kept), table(kept, state.available.shape[1])
    reserving = numbers(0)
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
                reserved[reservations] = row
                reserving = placed_for[reservations]
            start = _reserve_in_profile(row, now, profile, state, reserving)
            jobs[row, WHEN] = start
            reservations += 1
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
