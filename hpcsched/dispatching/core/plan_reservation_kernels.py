"""Compiled reservations in plans: the nodes and the earliest start of a job.

The segments of a plan are those of `hpcsched.dispatching.core.plan_kernels`.
"""

from hpcsched.dispatching.core.array_kernels import numbers, table
from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.heap_kernels import make_heap, pop
from hpcsched.dispatching.core.plan_kernels import take_on, units_during
from hpcsched.system.system import IntArray

TIME, UNITS = BY_TIME = 0, 1
"""Columns of the times at which units gain or lose room: when, and how many; and their order."""


@compiled()
def preference(
    n: int,
    first: int,
    end: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    asked: IntArray,
    capacity: IntArray,
    totals: IntArray,
) -> tuple[float, float]:
    """Return the rank of a node for a stay from segment `first` to `end`, the least first.

    It is the rank by `KeepScarce` outside of a round.

    Parameters
    ----------
    n
        Node.
    first
        Segment in which the stay begins.
    end
        End of the stay, in seconds.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments.
    asked
        Requested amount per unit, `[R]`.
    capacity
        Capacity of each node, `[N, R]`.
    totals
        Capacity of the system, `[R]`.

    Returns
    -------
    tuple[float, float]
        Offer of types that are not requested, and mean free share.
    """
    offer, share, offered = 0.0, 0.0, 0
    for r in range(len(asked)):
        lowest = free[first, r]
        s = after[first]
        while s != -1 and start[s] < end:
            lowest = min(lowest, free[s, r])
            s = after[s]
        if asked[r] == 0 and totals[r]:
            offer += lowest / totals[r]
        if capacity[n, r]:
            share += lowest / capacity[n, r]
            offered += 1
    return offer, share / max(offered, 1)


@compiled()
def reserve_one(
    release: int,
    latest: int,
    run_time: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
    asked: IntArray,
    on_idle: IntArray,
    exclusive: bool,
    capacity: IntArray,
    totals: IntArray,
) -> int:
    """Reserve room for one unit at the earliest start; `state[1]` is its node.

    Among nodes with the same start the first by `preference` is taken, then the lowest number.

    Parameters
    ----------
    release
        Time before which there is known to be no room, in seconds.
    latest
        Latest start, in seconds.
    run_time
        Duration, in seconds.
    start
        Starts of segments.
    after
        Successors of segments.
    free
        Free amounts of segments; updated.
    state
        Number of segments in use, and the chosen node, `[2]`; updated.
    asked
        Requested amount per unit, `[R]`.
    on_idle
        Units that fit on each idle node, `[N]`.
    exclusive
        Whether units go on idle nodes only.
    capacity
        Capacity of each node, `[N, R]`.
    totals
        Capacity of the system, `[R]`.

    Returns
    -------
    int
        Start, in seconds; `NEVER` if there is none.
    """
    best, on = latest, -1
    rank = (0.0, 0.0)
    for n in range(len(on_idle)):
        if on_idle[n] == 0:
            continue
        first, s = -1, n
        while after[s] != -1 and start[after[s]] <= release:
            s = after[s]
        while s != -1:
            if units_during(s, n, free, asked, on_idle, exclusive, capacity) == 0:
                first = -1
            elif first == -1:
                first = s
            if first == -1:
                if start[s] >= best:
                    break
                s = after[s]
                continue
            # A later start loses; an equal one is still ranked by preference.
            begin = start[first]
            if begin > best:
                break
            s = after[s]
            if s == -1 or start[s] - begin >= run_time:
                found = preference(
                    n, first, begin + run_time, start, after, free, asked, capacity, totals
                )
                if on == -1 or begin < best or found < rank:
                    best, on, rank = begin, n, found
                break
    # Taken at once, so that the next unit of the job is placed beside this one.
    if on != -1:
        amounts = capacity[on] if exclusive else asked
        take_on(on, best, best + run_time, amounts, start, after, free, state)
        state[1] = on
        return best
    return NEVER


@compiled()
def earliest(
    now: int,
    latest: int,
    units: int,
    run_time: int,
    segments: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    asked: IntArray,
    on_idle: IntArray,
    exclusive: bool,
    capacity: IntArray,
) -> int:
    """Return the earliest start from `now` to `latest` at which the units fit.

    The number of units that fit on a node from a start on is the minimum over the segments that the
    run time reaches. It changes where the run time begins to reach a segment, one second after that
    segment's start minus the run time, and where it has left a segment behind.

    Parameters
    ----------
    now
        Earliest start, in seconds.
    latest
        Latest start, in seconds.
    units
        Number of units.
    run_time
        Duration, in seconds.
    segments
        Number of segments in use.
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
    int
        Start, in seconds; `NEVER` if there is none.
    """
    gains = table(2 * segments, 2)
    changes, total = 0, 0
    of_node, levels = numbers(segments), numbers(segments)
    lows = numbers(segments)
    for n in range(len(on_idle)):
        if on_idle[n] == 0:
            continue
        count, s = 0, n
        while after[s] != -1 and start[after[s]] <= now:
            s = after[s]
        while s != -1 and start[s] < latest + run_time:
            fits = units_during(s, n, free, asked, on_idle, exclusive, capacity)
            if count == 0 or fits != levels[count - 1]:
                of_node[count], levels[count] = start[s], fits
                count += 1
            s = after[s]
        # `lows[head:tail]`: the segments reached whose level none that is reached later undercuts.
        head, tail, left, reached = 0, 0, 0, 0
        time, before = now, 0
        while True:
            while reached < count and of_node[reached] < time + run_time:
                while tail > head and levels[lows[tail - 1]] >= levels[reached]:
                    tail -= 1
                lows[tail] = reached
                tail += 1
                reached += 1
            while left + 1 < count and of_node[left + 1] <= time:
                left += 1
            while lows[head] < left:
                head += 1
            fits = levels[lows[head]]
            if time == now:
                total += fits
            elif fits != before:
                gains[changes, TIME], gains[changes, UNITS] = time, fits - before
                changes += 1
            before = fits
            if left + 1 == count:
                break
            time = of_node[left + 1]
            if reached < count:
                time = min(time, of_node[reached] - run_time + 1)
            if time > latest:
                break
        if total >= units:
            return now
    # A heap, as the first few changes decide.
    order = numbers(changes)
    for k in range(changes):
        order[k] = k
    make_heap(changes, order, gains, BY_TIME)
    while changes:
        time = gains[order[0], TIME]
        while changes and gains[order[0], TIME] == time:
            total += gains[order[0], UNITS]
            pop(changes, order, gains, BY_TIME)
            changes -= 1
        if total >= units:
            return time
    return NEVER
