"""Compiled plans beside announced outages: which of them matter, and a head job's shadow time.

Outages matter that begin before the last running job has ended and then the longest waiting one:
plans that reach further are worth little, and there may be many outages.
"""

from hpcsched.dispatching.core.codes import (
    CELL,
    NEVER,
    PREDICTED,
    QUEUED,
    REACH,
    SHAPE,
    SHOWN_END,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import room_on, take_from
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.pool_kernels import earliest_in_pools
from hpcsched.system.system import IntArray


@compiled()
def find_reach(now: int, state: State, outage_nodes: IntArray | None) -> None:
    """Write how far plans of this round look for outages; nothing has been started in it yet."""
    if outage_nodes is None:
        return
    jobs = state.jobs
    ends = by_shown_end(now, state.correction, state)
    last, longest = now, 0
    if len(ends):
        last = jobs[ends[len(ends) - 1], SHOWN_END]
    for k in range(state.counters[QUEUED]):
        longest = max(longest, jobs[state.queue[k], PREDICTED])
    state.counters[REACH] = last + longest


@compiled()
def any_ahead(now: int, state: State, outage_nodes: IntArray | None) -> bool:
    """Say whether outages are ahead that plans of this round may come to."""
    if outage_nodes is None:
        return False
    for k in range(len(state.outage_start)):
        if now < state.outage_start[k] < state.counters[REACH]:
            return True
    return False


@compiled()
def _close_for(
    head: int, time: int, now: int, then: IntArray, state: State, outage_nodes: IntArray | None
) -> None:
    """Have nothing be free, of `then`, `[R, N]`, on nodes that an outage takes from a head job."""
    if outage_nodes is None:
        return
    for k in range(len(state.outage_start)):
        start = state.outage_start[k]
        if not now < start < min(state.counters[REACH], time + state.jobs[head, PREDICTED]):
            continue
        if state.outage_end[k] > time:
            for i in range(state.outage_first[k], state.outage_first[k + 1]):
                for r in range(len(then)):
                    then[r, outage_nodes[i]] = 0


@compiled()
def free_for(
    head: int, time: int, now: int, then: IntArray, head_fits: IntArray, state: State
) -> int:
    """Write what is free for a head job from a time on; return how many of its units fit.

    `then` is `[R, N]`, and `head_fits`, `[N]`, the units on each node. Of nodes that an announced
    outage takes from the job, nothing is free.
    """
    jobs, cells, available = state.jobs, state.cells, state.available
    for r in range(len(available)):
        for node in range(len(head_fits)):
            then[r, node] = available[r, node]
    for row in by_shown_end(now, state.correction, state):
        if jobs[row, SHOWN_END] > time:
            break
        cell = jobs[row, CELL]
        while cell != -1:
            take_from(cells[cell, 0], cells[cell, 1], jobs[row, SHAPE], -1, then, state)
            cell = cells[cell, 2]
    _close_for(head, time, now, then, state, state.outage_nodes)
    total = 0
    for node in range(len(head_fits)):
        head_fits[node] = room_on(node, jobs[head, SHAPE], then, state)
        total += head_fits[node]
    return total


@compiled()
def first_in_service(
    head: int,
    time: int,
    now: int,
    then: IntArray,
    head_fits: IntArray,
    state: State,
) -> int:
    """Return when a head job first fits on nodes that stay in service for it, from a time on.

    Without outages it fits at that time. Once all are over that matter, all that comes free is
    there. `then` and `head_fits` are written over.
    """
    jobs, later = state.jobs, time
    while free_for(head, later, now, then, head_fits, state) < jobs[head, UNITS]:
        next_one = NEVER
        for row in by_shown_end(now, state.correction, state):
            if jobs[row, SHOWN_END] > later:
                next_one = jobs[row, SHOWN_END]
                break
        for k in range(len(state.outage_start)):
            if now < state.outage_start[k] < state.counters[REACH] and state.outage_end[k] > later:
                next_one = min(next_one, state.outage_end[k])
        if next_one == NEVER:
            return time
        later = next_one
    return later


@compiled()
def _in_service(
    head: int,
    time: int,
    now: int,
    then: IntArray,
    head_fits: IntArray,
    state: State,
    outage_nodes: IntArray | None,
) -> int:
    """Return when a head job first fits on nodes that stay in service for it, from a time on."""
    if outage_nodes is None or not any_ahead(now, state, outage_nodes):
        return time
    return first_in_service(head, time, now, then, head_fits, state)


@compiled()
def move_shadow(
    head: int,
    time: int,
    spare: int,
    now: int,
    then: IntArray,
    head_fits: IntArray,
    state: State,
) -> tuple[int, int]:
    """Return a shadow time beside outages and pools, and how many more units fit then.

    Given are those without outages and pools; `then` and `head_fits` are what is free at the shadow
    time, before and after. Where pools never have enough, the time is `NEVER`.
    """
    begin = time
    time = _in_service(head, time, now, then, head_fits, state, state.outage_nodes)
    if state.pool_free is None and not any_ahead(now, state, state.outage_nodes):
        return begin, spare
    later = earliest_in_pools(head, time, state, state.pool_free)
    while later != NEVER:
        time = _in_service(head, later, now, then, head_fits, state, state.outage_nodes)
        if time == later:
            break
        later = earliest_in_pools(head, time, state, state.pool_free)
    return later, free_for(head, later, now, then, head_fits, state) - state.jobs[head, UNITS]
