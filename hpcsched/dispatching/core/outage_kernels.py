"""Compiled outages: nodes that go out of service or come back, and the jobs that they end."""

from hpcsched.dispatching.core.codes import (
    ALTERED,
    CELL,
    CHANGE,
    CLOSED,
    FAILED,
    LIMITS,
    LOST_JOB,
    NEVER,
    NOW,
    QUEUED,
    REQUEUED,
    RUNNING,
    STALE,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.event_log_kernels import is_full, note_end
from hpcsched.dispatching.core.job_kernels import drop_end, forget, give_back, put_back
from hpcsched.dispatching.core.output_kernels import write_job
from hpcsched.system.system import IntArray


@compiled()
def or_change(event: int, state: State, down: IntArray | None) -> int:
    """Return the earlier of an event and the next begin or end of an outage, if it matters."""
    if down is None:
        return event
    counters, change_time = state.counters, state.change_time
    if counters[CHANGE] < len(change_time) and (counters[QUEUED] or event < NEVER):
        event = min(event, change_time[counters[CHANGE]])
    return event


@compiled()
def pass_outages(state: State, down: IntArray | None) -> bool:
    """Apply all outages that begin or end by now.

    Jobs that lose a node are put back into the queue, or leave as failed, by predicted end.

    Parameters
    ----------
    down
        Number of outages of each node, `[N]`; None without outages.

    Returns
    -------
    bool
        False if the output tables are full; the next call continues there.
    """
    if down is None:
        return True
    counters = state.counters
    now, change_time = counters[NOW], state.change_time
    while counters[CHANGE] < len(change_time) and change_time[counters[CHANGE]] <= now:
        k = counters[CHANGE]
        for i in range(state.change_first[k], state.change_first[k + 1]):
            down[state.change_nodes[i]] += state.change_sign[k]
        counters[CHANGE] += 1
        counters[ALTERED] = 1
    if counters[ALTERED] == 0:
        return True
    how = REQUEUED if state.requeue else FAILED
    k = 0
    while k < counters[RUNNING]:
        row = state.running[k]
        # Running rows move up where one is taken out, so `k` stays then.
        if not _loses_node(row, state, down):
            k += 1
            continue
        if is_full(state, state.events) or not write_job(row, how, state, True):
            return False
        note_end(LOST_JOB, row, how == REQUEUED, state, state.events)
        drop_end(row, state)
        give_back(row, state, True)
        if state.requeue:
            put_back(row, state)
        else:
            forget(row, state)
    _close_nodes(state, down)
    _find_limits(state)
    counters[ALTERED] = 0
    counters[STALE] = 1
    return True


@compiled()
def _loses_node(row: int, state: State, down: IntArray) -> bool:
    """Check whether a node of a running job is out of service."""
    cells, cell = state.cells, state.jobs[row, CELL]
    while cell != -1:
        if down[cells[cell, 0]]:
            return True
        cell = cells[cell, 2]
    return False


@compiled()
def _close_nodes(state: State, down: IntArray) -> None:
    """Set the free amounts of nodes that go out of service to 0, of returning nodes to full."""
    available, capacity, closed = state.available, state.capacity, state.closed
    for node in range(len(down)):
        if closed[node] == (down[node] > 0):
            continue
        closed[node] = down[node] > 0
        state.counters[CLOSED] += 1 if closed[node] else -1
        for r in range(len(available)):
            free = 0 if closed[node] else capacity[node, r]
            state.free_amounts[r] += free - available[r, node]
            available[r, node] = free


@compiled()
def _find_limits(state: State) -> None:
    """Write the next announced outage of each node, and the sorted distinct times of these."""
    clear_until, limits = state.clear_until, state.limits
    now = state.counters[NOW]
    is_over = False
    # Nothing changes between two announced outages, and this is called in each round.
    for node in range(len(clear_until)):
        is_over = is_over or clear_until[node] <= now
    if not is_over:
        return
    for node in range(len(clear_until)):
        clear_until[node] = NEVER
    for k in range(len(state.outage_start)):
        start = state.outage_start[k]
        if start > now:
            for i in range(state.outage_first[k], state.outage_first[k + 1]):
                node = state.outage_nodes[i]
                clear_until[node] = min(clear_until[node], start)
    count = 0
    # Insertion: there are few distinct times, and many nodes share each.
    for node in range(len(clear_until)):
        k = count
        while k and limits[k - 1] > clear_until[node]:
            k -= 1
        if k and limits[k - 1] == clear_until[node]:
            continue
        for i in range(count, k, -1):
            limits[i] = limits[i - 1]
        limits[k] = clear_until[node]
        count += 1
    state.counters[LIMITS] = count
