"""Compiled capacities of shared resources over time."""

from hpcsched.dispatching.core.codes import (
    LAST_EVENT,
    NEVER,
    NOW,
    QUEUED,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.system.system import IntArray


@compiled()
def offered(p: int, time: int, state: State) -> int:
    """Return the capacity of a shared resource at a time."""
    at, first, last = state.shared_at, state.shared_first[p], state.shared_first[p + 1]
    period, within = 0, time
    if state.shared_every[p]:
        period, within = time // state.shared_every[p], time % state.shared_every[p]
    k = first
    while k < last and at[k] <= within:
        k += 1
    if k > first:
        return state.shared_offer[k - 1]
    if period and last > first:
        return state.shared_offer[last - 1]
    return state.shared_capacity[p]


@compiled()
def next_offer(time: int, state: State) -> int:
    """Return the first change of a capacity after a time; `NEVER` if there is none."""
    found = NEVER
    for p in range(len(state.shared_every)):
        at, first, last = state.shared_at, state.shared_first[p], state.shared_first[p + 1]
        every = state.shared_every[p]
        within = time % every if every else time
        k = first
        while k < last and at[k] <= within:
            k += 1
        if k < last:
            found = min(found, time - within + at[k])
        elif every and last > first:
            found = min(found, time - within + every + at[first])
    return found


@compiled()
def or_offer(event: int, state: State, shared_free: IntArray | None) -> int:
    """Return the earlier of an event and the next change of capacity, if jobs wait.

    If no other event is left, changes matter until all capacities have been seen.

    Parameters
    ----------
    event
        Time of the next event, in seconds; `NEVER` if none is left.

    Returns
    -------
    int
        Time of the next event, in seconds.
    """
    if shared_free is None:
        return event
    counters = state.counters
    if counters[QUEUED]:
        change = next_offer(counters[NOW], state)
        seen = state.shared_rounds * state.shared_period
        last = max(counters[LAST_EVENT], state.shared_settled) + seen
        if event == NEVER and change > last:
            return NEVER
        if change < event:
            return change
    if event != NEVER:
        counters[LAST_EVENT] = event
    return event
