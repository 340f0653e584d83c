"""Compiled loops over a row of segments: free amount of one resource from now on.

`free[k]` is free from `start[k]` to before `start[k + 1]`, and the last for ever. `count` segments
are in use; callers make sure that there is room for two more. Nodes that have to be distinguished
have a row each, in `plan_kernels`.
"""

from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def is_beyond(start: int, now: int, window: int | None) -> bool:
    """Check whether a start lies beyond the window from now on in which reservations are made.

    Parameters
    ----------
    start
        Start of a reservation, in seconds.
    window
        Length of the window in seconds; None: any start is within it.
    """
    if window is None:
        return False
    return start > now + window


@compiled()
def first_from(time: int, start: IntArray, count: int) -> int:
    """Return the index of the first of `count` ascending values that is at least `time`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if start[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled()
def segments_within(end: int, amount: int, count: int, start: IntArray, free: IntArray) -> int:
    """Return the number of segments that begin before `end`; 0 if one has too little.

    Parameters
    ----------
    end
        End, in seconds.
    amount
        Required amount.
    count
        Number of segments in use.
    start
        Starts of segments.
    free
        Free amounts of segments.

    Returns
    -------
    int
        Number of segments from the first on.
    """
    k = 0
    while k < count and start[k] < end:
        if free[k] < amount:
            return 0
        k += 1
    return k


@compiled()
def _split(at: int, time: int, count: int, start: IntArray, free: IntArray) -> int:
    """Split the segment before number `at`, so that one begins at `time`; return the new count."""
    for k in range(count, at, -1):
        start[k] = start[k - 1]
        free[k] = free[k - 1]
    start[at] = time
    free[at] = free[at - 1]
    return count + 1


@compiled()
def take_segments(
    first: int, last: int, end: int, amount: int, count: int, start: IntArray, free: IntArray
) -> int:
    """Take an amount from segment `first` to the time `end`.

    Parameters
    ----------
    first
        First segment.
    last
        Segment after the one in which, or with which, the time ends.
    end
        End, in seconds.
    amount
        Amount to take.
    count
        Number of segments in use.
    start
        Starts of segments; updated.
    free
        Free amounts of segments; updated.

    Returns
    -------
    int
        New number of segments.
    """
    if last == count or start[last] != end:
        count = _split(last, end, count, start, free)
    for k in range(first, last):
        free[k] -= amount
    return count


@compiled()
def least_on_row(begin: int, end: int, count: int, start: IntArray, free: IntArray) -> int:
    """Return the minimum free amount from `begin` to before `end`.

    Parameters
    ----------
    begin
        Start, in seconds.
    end
        End, in seconds.
    count
        Number of segments in use.
    start
        Starts of segments.
    free
        Free amounts of segments.

    Returns
    -------
    int
        The minimum.
    """
    k = first_from(begin + 1, start, count) - 1
    least = free[k]
    while k < count and start[k] < end:
        least = min(least, free[k])
        k += 1
    return least


@compiled()
def take_on_row(
    begin: int, end: int, amount: int, count: int, start: IntArray, free: IntArray
) -> int:
    """Take an amount from `begin` to `end`.

    Parameters
    ----------
    begin
        Start, in seconds.
    end
        End, in seconds.
    amount
        Amount to take; a negative one is given back.
    count
        Number of segments in use.
    start
        Starts of segments; updated.
    free
        Free amounts of segments; updated.

    Returns
    -------
    int
        New number of segments.
    """
    first = first_from(begin, start, count)
    if first == count or start[first] != begin:
        count = _split(first, begin, count, start, free)
    last = first_from(end, start, count)
    return take_segments(first, last, end, amount, count, start, free)


@compiled()
def earliest_on_row(
    release: int, run_time: int, amount: int, count: int, start: IntArray, free: IntArray
) -> tuple[int, int, int]:
    """Return the earliest time from `release` on at which an amount stays free for a run time.

    Parameters
    ----------
    release
        Earliest start, in seconds.
    run_time
        Duration, in seconds.
    amount
        Required amount.
    count
        Number of segments in use.
    start
        Starts of segments.
    free
        Free amounts of segments.

    Returns
    -------
    tuple[int, int, int]
        Start (`NEVER` if there is none), first segment reached, and first segment after it.
    """
    first = 0
    if release > start[0]:
        first = first_from(release + 1, start, count) - 1
    while True:
        while first < count and free[first] < amount:
            first += 1
        if first == count:
            return NEVER, count, count
        begin = max(start[first], release)
        end = begin + run_time
        last = first + 1
        while last < count and start[last] < end and free[last] >= amount:
            last += 1
        if last == count or start[last] >= end:
            return begin, first, last
        # Segment `last` has too little, so no start up to its end can do.
        first = last + 1


@compiled()
def reserve_on_row(
    release: int, run_time: int, amount: int, count: int, start: IntArray, free: IntArray
) -> tuple[int, int]:
    """Take an amount at the earliest time from `release` on at which it stays free.

    Parameters
    ----------
    release
        Earliest start, in seconds.
    run_time
        Duration, in seconds.
    amount
        Amount to take.
    count
        Number of segments in use.
    start
        Starts of segments; updated.
    free
        Free amounts of segments; updated.

    Returns
    -------
    tuple[int, int]
        Start (`NEVER` if there is none), and new number of segments.
    """
    begin, first, last = earliest_on_row(release, run_time, amount, count, start, free)
    if begin == NEVER:
        return NEVER, count
    count = take_segments(first, last, begin + run_time, amount, count, start, free)
    if start[first] != begin:  # the part before `begin` gets it back
        count = _split(first + 1, begin, count, start, free)
        free[first] += amount
    return begin, count
