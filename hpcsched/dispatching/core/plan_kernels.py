"""Compiled loops over a plan: free amounts on every node from now on.

A plan is a set of segments. Segment `s` lasts from `start[s]` to the start of segment `after[s]`,
or for ever where that is -1, with the free amounts `free[s]`, `[R]`. The first segment of node `n`
is number `n` and begins now. `state[0]` counts the segments in use; callers make sure that there
are enough to split. `state[1]` is the last node that `reserve_one` has chosen.

A shape is `asked`, `[R]`, `on_idle`, `[N]`, and `exclusive` (see `shapes`); `capacity` is `[N, R]`.
Times are in seconds.
"""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def open_plan(
    now: int,
    available: IntArray,
    times: IntArray,
    nodes: IntArray,
    amounts: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
) -> int:
    """Write the segments of a plan from the free amounts now and later releases.

    Parameters
    ----------
    now
        Start of the plan, in seconds.
    available
        Free amounts now, `[R, N]`.
    times
        Times of releases, ascending, `[K]`.
    nodes
        Node of each release, `[K]`.
    amounts
        Released amounts, `[K, R]`.
    start
        Starts of segments; written.
    after
        Successors of segments; written.
    free
        Free amounts of segments; written.

    Returns
    -------
    int
        Number of segments.
    """
    types, count = available.shape
    last = numbers(count)
    for n in range(count):
        last[n] = n
        start[n] = now
        after[n] = -1
        for r in range(types):
            free[n, r] = available[r, n]
    for k in range(len(times)):
        s = last[nodes[k]]
        # Several jobs may end on a node at once: they share the segment that begins then.
        if start[s] != times[k]:
            start[count] = times[k]
            after[count] = -1
            for r in range(types):
                free[count, r] = free[s, r]
            after[s] = last[nodes[k]] = count
            s = count
            count += 1
        for r in range(types):
            free[s, r] += amounts[k, r]
    return count


@compiled()
def units_during(
    s: int,
    n: int,
    free: IntArray,
    asked: IntArray,
    on_idle: IntArray,
    exclusive: bool,
    capacity: IntArray,
) -> int:
    """Return the number of units that fit on node `n` during its segment `s`.

    Parameters
    ----------
    s
        Segment.
    n
        Node of the segment.
    free
        Free amounts of segments, `[segments, R]`.
    asked
        Requested amount per unit, `[R]`.
    on_idle
        Units that fit on each idle node, `[N]`.
    exclusive
        Whether units go on idle nodes only.
    capacity
        Capacity of each node, `[N, R]`.

    Returns
    -------
    int
        Number of units.
    """
    # The fit on the idle node also holds restrictions that amounts do not show.
    fits = on_idle[n]
    for r in range(len(asked)):
        if exclusive:
            if free[s, r] != capacity[n, r]:
                return 0
        elif asked[r]:
            if free[s, r] < asked[r]:
                return 0
            # A division for each node and segment is slow, and one unit needs none.
            if fits > 1:
                fits = min(fits, free[s, r] // asked[r])
    return fits


@compiled()
def fits_until(
    end: int,
    units: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    asked: IntArray,
    on_idle: IntArray,
    exclusive: bool,
    capacity: IntArray,
) -> bool:
    """Check whether the units fit from now to `end`, each on one node throughout.

    Parameters
    ----------
    end
        End, in seconds.
    units
        Number of units.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments.
    asked
        Requested amount per unit, `[R]`.
    on_idle
        Units that fit on each idle node, `[N]`.
    exclusive
        Whether units go on idle nodes only.
    capacity
        Capacity of each node, `[N, R]`.

    Returns
    -------
    bool
        Whether they fit.
    """
    missing = units
    for n in range(len(on_idle)):
        # No more than are missing: beyond that the node's later segments do not matter.
        fits = min(on_idle[n], missing)
        s = n
        while fits and s != -1 and start[s] < end:
            fits = min(fits, units_during(s, n, free, asked, on_idle, exclusive, capacity))
            s = after[s]
        missing -= fits
        if missing == 0:
            return True
    return False


@compiled()
def find_lowest(
    begin: int, end: int, start: IntArray, after: IntArray, free: IntArray, lowest: IntArray
) -> None:
    """Write the minimum of the free amounts on each node from `begin` to `end`.

    Parameters
    ----------
    begin
        Start, in seconds.
    end
        End, in seconds.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments.
    lowest
        Minima, `[R, N]`; written.
    """
    types, count = lowest.shape
    for n in range(count):
        s = n
        while after[s] != -1 and start[after[s]] <= begin:
            s = after[s]
        for r in range(types):
            lowest[r, n] = free[s, r]
        s = after[s]
        while s != -1 and start[s] < end:
            for r in range(types):
                lowest[r, n] = min(lowest[r, n], free[s, r])
            s = after[s]


@compiled()
def _split(
    s: int, time: int, start: IntArray, after: IntArray, free: IntArray, state: IntArray
) -> int:
    """Return the segment that begins at `time`, splitting segment `s` if needed."""
    if start[s] == time:
        return s
    # Segments come from a pool, whose end is in `state`; nothing is ever given back.
    new = state[0]
    state[0] += 1
    start[new] = time
    after[new] = after[s]
    for r in range(free.shape[1]):
        free[new, r] = free[s, r]
    after[s] = new
    return new


@compiled()
def take_on(
    n: int,
    begin: int,
    end: int,
    amounts: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
) -> None:
    """Take amounts of a node from `begin` to `end`.

    Parameters
    ----------
    n
        Node.
    begin
        Start, in seconds.
    end
        End, in seconds.
    amounts
        Amounts to take, `[R]`; negative ones are given back.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments; updated.
    state
        Number of segments in use, `[2]`; updated.
    """
    s = n
    while after[s] != -1 and start[after[s]] <= begin:
        s = after[s]
    s = _split(s, begin, start, after, free, state)
    while start[s] < end:
        # Only the last segment can reach beyond the end.
        if after[s] == -1 or start[after[s]] > end:
            _split(s, end, start, after, free, state)
        for r in range(len(amounts)):
            free[s, r] -= amounts[r]
        s = after[s]


@compiled()
def close(
    begin: int,
    end: int,
    nodes: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
) -> None:
    """Set the free amounts of nodes to 0 from `begin` to `end`.

    Parameters
    ----------
    begin
        Start, in seconds.
    end
        End, in seconds.
    nodes
        Nodes.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments; updated.
    state
        Number of segments in use, `[2]`; updated.
    """
    for n in nodes:
        s = n
        while after[s] != -1 and start[after[s]] <= begin:
            s = after[s]
        s = _split(s, begin, start, after, free, state)
        while start[s] < end:
            if after[s] == -1 or start[after[s]] > end:
                _split(s, end, start, after, free, state)
            for r in range(free.shape[1]):
                free[s, r] = 0
            s = after[s]


@compiled()
def take(
    begin: int,
    end: int,
    nodes: IntArray,
    amounts: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
) -> None:
    """Take `amounts[k]`, `[R]`, of node `nodes[k]` from `begin` to `end`; see `take_on`."""
    for k in range(len(nodes)):
        take_on(nodes[k], begin, end, amounts[k], start, after, free, state)
