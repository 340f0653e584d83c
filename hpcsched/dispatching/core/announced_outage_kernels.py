"""Compiled plans beside announced outages: relevant outages, and the head job's shadow time.

An outage is relevant if it begins before the last running job has ended and then the longest
waiting one: plans beyond that are worth little, and there may be many outages.
"""

from hpcsched.dispatching.core.codes import (
    ACTIVE_SHAPES,
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
from hpcsched.dispatching.core.shared_resource_kernels import earliest_in_shared
from hpcsched.system.system import IntArray


@compiled()
def find_reach(now: int, state: State, outage_nodes: IntArray | None) -> None:
    """Write the time up to which plans of this round consider outages.

    Must be called before the round starts any job.

    Parameters
    ----------
    state
        State of the replay; the counter `REACH` is written.
    outage_nodes
        None in a replay without outages.
    """
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
    """Check whether outages begin within the reach of this round's plans.

    Parameters
    ----------
    outage_nodes
        None in a replay without outages.

    Returns
    -------
    bool
        Whether plans must consider outages.
    """
    if outage_nodes is None:
        return False
    for k in range(len(state.outage_start)):
        if now < state.outage_start[k] < state.counters[REACH]:
            return True
    return False


@compiled()
def counts_units(now: int, state: State) -> bool:
    """Check whether counting units is enough to plan waiting jobs, regardless of running ones.

    They can if all have one shape whose units can be counted, beside no shared resources and no
    outages ahead: before an outage fewer and fewer units fit, and shared resources may have too
    little for some.

    Must be called before the round starts any job; see `find_reach`.
    """
    shape = state.jobs[state.queue[0], SHAPE]
    alike = state.counters[ACTIVE_SHAPES] == 1 and not state.uncountable[shape]
    find_reach(now, state, state.outage_nodes)
    alike = alike and state.shared_free is None
    return bool(alike and not any_ahead(now, state, state.outage_nodes))


@compiled()
def _close_for(
    head: int, time: int, now: int, then: IntArray, state: State, outage_nodes: IntArray | None
) -> None:
    """Set `then`, `[R, N]`, to 0 on nodes that an outage takes from a head job."""
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
    """Write the free capacity for a head job that starts at `time`.

    Nodes that an announced outage takes from the job have none.

    Parameters
    ----------
    head
        Row of the head job.
    time
        Start of the job, in seconds.
    then
        Free amounts, `[R, N]`; written.
    head_fits
        Units of the job that fit on each node, `[N]`; written.

    Returns
    -------
    int
        Number of units that fit.
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
    """Return the earliest start of a head job on nodes that stay in service for it.

    Once all relevant outages are over, the full capacity is there.

    Parameters
    ----------
    head
        Row of the head job.
    time
        Earliest start without outages, in seconds.
    then
        Working array, `[R, N]`; overwritten.
    head_fits
        Working array, `[N]`; overwritten.

    Returns
    -------
    int
        Start, in seconds.
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
        # Neither a job nor an outage ends any more: there is no later time to try.
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
    """Return the earliest start of a head job on nodes in service; `time` without outages."""
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
    """Return the shadow time with outages and shared resources, and the number of spare units.

    Parameters
    ----------
    head
        Row of the head job.
    time
        Shadow time without outages and shared resources, in seconds.
    spare
        Units of the head job that fit then beyond its own.
    then
        Free amounts at the shadow time, `[R, N]`; updated.
    head_fits
        Units that fit on each node then, `[N]`; updated.

    Returns
    -------
    tuple[int, int]
        Shadow time (`NEVER` if shared resources never suffice), and spare units.
    """
    begin = time
    time = _in_service(head, time, now, then, head_fits, state, state.outage_nodes)
    if state.shared_free is None and not any_ahead(now, state, state.outage_nodes):
        return begin, spare
    # Nodes and shared resources are asked in turn until neither moves the time any more.
    later = earliest_in_shared(head, time, state, state.shared_free)
    while later != NEVER:
        time = _in_service(head, later, now, then, head_fits, state, state.outage_nodes)
        if time == later:
            break
        later = earliest_in_shared(head, time, state, state.shared_free)
    return later, free_for(head, later, now, then, head_fits, state) - state.jobs[head, UNITS]
