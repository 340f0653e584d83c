"""Compiled plans for jobs with unequal units: free amounts on each node from now on.

The segments of a plan are those of `hpcsched.dispatching.core.plan_kernels`.
"""

from hpcsched.dispatching.core.array_kernels import numbers, table, zeros
from hpcsched.dispatching.core.codes import (
    CELL,
    EXTERNAL,
    PREDICTED,
    REACH,
    SHAPE,
    SHOWN_END,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State
from hpcsched.dispatching.core.external_allocator import place_by_external
from hpcsched.dispatching.core.fit_count_kernels import allocated_on_node
from hpcsched.dispatching.core.placement_kernels import place
from hpcsched.dispatching.core.plan_kernels import close, find_lowest, fits_until, take_on
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def make_room(profile: Profile, segments: int) -> None:
    """Enlarge a profile, if needed, to hold some more segments."""
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
    """Return the free amounts on each node from now on, given the ends of running jobs.

    Parameters
    ----------
    running
        Rows of running jobs, by the end that rules see.

    Returns
    -------
    Profile
        The profile.
    """
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
            # Running jobs come by end, so that each segment is appended behind the node's last.
            if start[segment] != end:
                start[count] = end
                after[count] = -1
                for r in range(types):
                    free[count, r] = free[segment, r]
                after[segment] = last[node] = count
                segment = count
                count += 1
            for r in range(types):
                free[segment, r] += allocated_on_node(
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
    """Set free amounts to 0 on nodes during announced outages.

    Parameters
    ----------
    profile
        Profile of the round; updated.
    outage_nodes
        None in a replay without outages.
    """
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
    """Check whether a job fits from now to its predicted end.

    Parameters
    ----------
    profile
        Profile of the round.

    Returns
    -------
    bool
        Whether each unit has room on one node throughout.
    """
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
    """Place a job on capacity that is free from `begin` to `end`, and take it.

    Parameters
    ----------
    begin
        Start, in seconds.
    end
        End, in seconds.
    allocator
        Code of the allocator.
    profile
        Profile of the round; updated.

    Returns
    -------
    IntArray
        Units on each node, `[N]`; all 0 if the job does not fit.
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
            state.scarce,
        )
    count = 0
    for node in range(len(placed)):
        if placed[node]:
            count += 1
    # Taking an amount splits two segments of a node at most.
    make_room(profile, 2 * count)
    take_placed(row, placed, begin, end, 1, profile, state)
    return placed


@compiled()
def take_placed(
    row: int, placed: IntArray, begin: int, end: int, sign: int, profile: Profile, state: State
) -> None:
    """Take the capacity of a job's units on nodes for a time.

    Parameters
    ----------
    placed
        Units on each node, `[N]`.
    begin
        Start, in seconds.
    end
        End, in seconds.
    sign
        1 to take, -1 to give back.
    profile
        Profile of the round; updated.
    """
    shape = state.jobs[row, SHAPE]
    amounts = numbers(len(state.totals))
    for node in range(len(placed)):
        if placed[node]:
            for r in range(len(amounts)):
                amounts[r] = sign * allocated_on_node(
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
    """Take the capacity of a job that starts now.

    Parameters
    ----------
    profile
        Profile of the round; updated.
    allocator
        Code of the allocator.

    Returns
    -------
    IntArray
        Units on each node, `[N]`.
    """
    end = now + state.jobs[row, PREDICTED]
    return place_between(row, now, end, allocator, pressure, profile, state)
