"""Compiled transitions of jobs: into the queue, to running, and out again."""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    CELL,
    CELL_DEMAND,
    END,
    FREE_ROW,
    FREED_UNTIL,
    HELD,
    HELD_BACK,
    LAST_ASKED,
    LOST_TIME,
    NEVER,
    NOW,
    NUMBER,
    PLANNED_END,
    PREDICTED,
    PROMISE,
    QUEUED,
    REQUEST,
    REQUESTED,
    REQUEUES,
    RESERVED,
    RUN_TIME,
    RUNNING,
    SEQUENCE,
    SHAPE,
    SHOWN_END,
    SPAN,
    START,
    STARTED,
    SUBMIT_TIME,
    SUBMITTED,
    UNITS,
    WAITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import add_waiting, change_node
from hpcsched.dispatching.core.heap_kernels import pop, push
from hpcsched.dispatching.core.queue_order_kernels import insert_into_queue, merge
from hpcsched.dispatching.core.shared_draw_kernels import switch, take_draws
from hpcsched.dispatching.core.slot_kernels import add_cell, drop_cells, give_slots_back
from hpcsched.dispatching.core.state import ByNode
from hpcsched.system.system import IntArray

FOR_EVER = float(1 << 60)
"""Seconds, longer than all times together."""


BY_END = (END, NUMBER)
"""Sort columns of ends: the earliest first, then the lowest number."""


@compiled()
def submit(k: int, state: State, by_node: ByNode) -> int:
    """Put job `k` of a batch into the queue.

    Parameters
    ----------
    k
        Number of the job in its batch.
    state
        State of the replay, with a free row.

    Returns
    -------
    int
        Row of the job.
    """
    counters, jobs = state.counters, state.jobs
    row = counters[FREE_ROW]
    # Free rows are a list of which each row names the next.
    counters[FREE_ROW] = jobs[row, 0]
    units, shape = state.batch_units[k], state.batch_shape[k]
    jobs[row, NUMBER] = state.batch_number[k]
    jobs[row, SEQUENCE] = counters[SUBMITTED]
    jobs[row, SUBMIT_TIME] = state.batch_submit_time[k]
    jobs[row, RUN_TIME] = state.batch_run_time[k]
    jobs[row, PREDICTED] = state.batch_predicted[k]
    jobs[row, REQUESTED] = state.batch_requested[k]
    jobs[row, UNITS] = units
    jobs[row, SHAPE] = jobs[row, REQUEST] = shape
    jobs[row, REQUEUES] = jobs[row, LOST_TIME] = 0
    for i in range(state.batch_keys.shape[1]):
        state.keys[row, i] = state.batch_keys[k, i]
    if state.own_backfill_order:
        for i in range(state.batch_behind_keys.shape[1]):
            state.behind_keys[row, i] = state.batch_behind_keys[k, i]
    take_draws(k, row, state, state.shared_own)
    counters[SUBMITTED] += 1
    _join_queue(row, state)
    if by_node is not None:
        _count_room(shape, state, state.down)
    return row


@compiled()
def _join_queue(row: int, state: State) -> None:
    """Insert a job into the queue, at its place in the order."""
    counters, jobs = state.counters, state.jobs
    units, shape, count = jobs[row, UNITS], jobs[row, SHAPE], counters[QUEUED]
    jobs[row, WAITS] = 1
    jobs[row, HELD] = 0
    jobs[row, SPAN] = -1
    jobs[row, PROMISE] = jobs[row, RESERVED] = NEVER
    jobs[row, CELL] = -1
    insert_into_queue(row, state.queue, count, state.by_wait, state.keys, jobs)
    if state.own_backfill_order:
        insert_into_queue(row, state.behind, count, state.behind_by_wait, state.behind_keys, jobs)
    counters[QUEUED] += 1
    counters[CELL_DEMAND] += min(units, state.available.shape[1])
    for r in range(len(state.waiting_amounts)):
        state.waiting_amounts[r] += units * state.asked[shape, r]


@compiled()
def _count_room(shape: int, state: State, down: IntArray | None) -> None:
    """Count the units of a shape that fit; beside outages, the next round does."""
    if down is None:
        add_waiting(shape, state)


@compiled()
def put_back(row: int, state: State) -> None:
    """Put a job that has lost a node back into the queue."""
    jobs = state.jobs
    jobs[row, REQUEUES] += 1
    jobs[row, LOST_TIME] += state.counters[NOW] - jobs[row, START]
    _join_queue(row, state)


@compiled()
def _place_among_running(row: int, count: int, running: IntArray, jobs: IntArray) -> int:
    """Return the position of a row among the running ones, by planned end, then number."""
    end, number = jobs[row, PLANNED_END], jobs[row, NUMBER]
    left, right = 0, count
    while left < right:
        middle = (left + right) // 2
        other = running[middle]
        planned = jobs[other, PLANNED_END]
        if planned < end or (planned == end and jobs[other, NUMBER] < number):
            left = middle + 1
        else:
            right = middle
    return left


@compiled()
def begin(row: int, cell: int, now: int, state: State) -> None:
    """Start a queued job now, on places that are taken already.

    Its row stays in the queue until `leave_queue`.

    Parameters
    ----------
    cell
        First cell of its places.
    """
    counters, jobs, running = state.counters, state.jobs, state.running
    jobs[row, WAITS] = 0
    jobs[row, START] = now
    jobs[row, END] = now + jobs[row, RUN_TIME]
    jobs[row, PLANNED_END] = jobs[row, SHOWN_END] = now + jobs[row, PREDICTED]
    jobs[row, CELL] = cell
    count = counters[RUNNING]
    place = _place_among_running(row, count, running, jobs)
    for k in range(count, place, -1):
        running[k] = running[k - 1]
    running[place] = row
    # Real ends are a heap, since only the first matters; planned ends are sorted for rules.
    push(row, count, state.ends, jobs, BY_END)
    switch(row, 1, state, state.shared_drawn)
    counters[RUNNING] += 1
    state.started[counters[STARTED]] = row
    counters[STARTED] += 1
    units, shape = jobs[row, UNITS], jobs[row, SHAPE]
    counters[CELL_DEMAND] -= min(units, state.available.shape[1])
    for r in range(len(state.waiting_amounts)):
        amount = units * state.asked[shape, r]
        state.waiting_amounts[r] -= amount
        state.running_amounts[r] += amount


@compiled()
def set_held(row: int, by: int, holds: bool, state: State) -> None:
    """Set or clear a bit of `HELD`: a cause that holds a queued job back.

    Parameters
    ----------
    by
        The bit.
    holds
        Whether to set it.
    """
    jobs = state.jobs
    before = jobs[row, HELD]
    jobs[row, HELD] = before | by if holds else before & ~by
    if (before == 0) == (jobs[row, HELD] == 0):
        return
    sign = 1 if before == 0 else -1
    state.counters[HELD_BACK] += sign
    for r in range(len(state.held_amounts)):
        amount = jobs[row, UNITS] * state.asked[jobs[row, REQUEST], r]
        state.held_amounts[r] += sign * amount


@compiled()
def hold_back(state: State) -> None:
    """Hide the jobs that are held back from a round, until `leave_queue`."""
    counters, jobs = state.counters, state.jobs
    if counters[HELD_BACK] == 0:
        return
    _put_held_last(state.queue, counters[QUEUED], jobs)
    if state.own_backfill_order:
        _put_held_last(state.behind, counters[QUEUED], jobs)
    counters[QUEUED] -= counters[HELD_BACK]


@compiled()
def _put_held_last(queue: IntArray, count: int, jobs: IntArray) -> None:
    """Move the jobs that are held back to the end of a queue."""
    held = numbers(count)
    shown = 0
    for k in range(count):
        row = queue[k]
        if jobs[row, HELD]:
            held[k - shown] = row
        else:
            queue[shown] = row
            shown += 1
    for k in range(shown, count):
        queue[k] = held[k - shown]


@compiled()
def leave_queue(state: State) -> None:
    """Remove started jobs from the queue, and merge jobs that were held back into it."""
    counters, jobs = state.counters, state.jobs
    shown, held = counters[QUEUED], counters[HELD_BACK]
    _keep_waiting(state.queue, shown, held, state.by_wait, state.keys, jobs)
    if state.own_backfill_order:
        keys = state.behind_keys
        _keep_waiting(state.behind, shown, held, state.behind_by_wait, keys, jobs)
    counters[QUEUED] += held - counters[STARTED]


@compiled()
def _keep_waiting(
    queue: IntArray,
    shown: int,
    held: int,
    by_wait: bool | None,
    keys: IntArray,
    jobs: IntArray,
) -> None:
    """Keep those of the first `shown` rows that wait, merged with the `held` ones after them."""
    kept = 0
    for k in range(shown):
        row = queue[k]
        if jobs[row, WAITS]:
            queue[kept] = row
            kept += 1
        else:
            jobs[row, SHAPE] = jobs[row, REQUEST]
    if held:
        merge(queue, kept, shown, held, by_wait, keys, jobs)


@compiled()
def take_nodes(row: int, placed: IntArray, state: State) -> int:
    """Take the capacity of a job's units on nodes.

    Parameters
    ----------
    placed
        Units on each node, `[N]`.

    Returns
    -------
    int
        First cell of the list of places.
    """
    shape = state.jobs[row, SHAPE]
    first, previous = -1, -1
    for node in range(len(placed)):
        if placed[node] == 0:
            continue
        cell = add_cell(node, placed[node], state.cells, state.counters)
        if previous == -1:
            first = cell
        else:
            state.cells[previous, 2] = cell
        previous = cell
        change_node(node, placed[node], shape, 1, state)
    return first


@compiled()
def end_first(state: State, by_node: ByNode) -> None:
    """End the job on top of the heap of ends, and free its resources and its row."""
    row = state.ends[0]
    pop(state.counters[RUNNING], state.ends, state.jobs, BY_END)
    give_back(row, state, by_node)
    forget(row, state)


@compiled()
def drop_end(row: int, state: State) -> None:
    """Remove a row from the heap of ends, wherever it is."""
    ends, left = state.ends, 0
    # Rebuilt in place: the part already rebuilt is never longer than the part read.
    for k in range(state.counters[RUNNING]):
        if ends[k] != row:
            push(ends[k], left, ends, state.jobs, BY_END)
            left += 1


@compiled()
def forget(row: int, state: State) -> None:
    """Free the row of a job."""
    state.jobs[row, 0] = state.counters[FREE_ROW]
    state.counters[FREE_ROW] = row


@compiled()
def stop_running(row: int, state: State) -> None:
    """Remove a job from the running ones; its resources are not freed yet."""
    counters, jobs, running = state.counters, state.jobs, state.running
    count = counters[RUNNING]
    place = _place_among_running(row, count, running, jobs)
    for k in range(place, count - 1):
        running[k] = running[k + 1]
    counters[RUNNING] -= 1
    switch(row, -1, state, state.shared_drawn)
    units, shape = jobs[row, UNITS], jobs[row, SHAPE]
    for r in range(len(state.running_amounts)):
        state.running_amounts[r] -= units * state.asked[shape, r]


@compiled()
def _end_told(row: int, state: State, lost: IntArray | None) -> int:
    """Return the end of a job from the view of rules that keep reservations.

    If it started since their last round, they take it to have started in that round.
    """
    jobs, end = state.jobs, state.jobs[row, SHOWN_END]
    if lost is not None and jobs[row, START] > state.counters[LAST_ASKED]:
        end -= jobs[row, START] - state.counters[LAST_ASKED]
    return end


@compiled()
def give_back(row: int, state: State, by_node: ByNode) -> None:
    """End a job and release its resources."""
    counters, jobs = state.counters, state.jobs
    units, shape = jobs[row, UNITS], jobs[row, SHAPE]
    stop_running(row, state)
    counters[FREED_UNTIL] = max(counters[FREED_UNTIL], _end_told(row, state, state.lost))
    if by_node is None:
        for r in range(len(state.free_amounts)):
            state.free_amounts[r] += units * state.asked[shape, r]
        give_slots_back(
            jobs[row, CELL], state.interval_low, state.interval_high, state.cells, counters
        )
    else:
        cell = jobs[row, CELL]
        while cell != -1:
            change_node(state.cells[cell, 0], state.cells[cell, 1], shape, -1, state)
            cell = state.cells[cell, 2]
        drop_cells(jobs[row, CELL], state.cells, counters)


@compiled()
def share_of_wait(row: int, until: int, share: float, jobs: IntArray) -> int:
    """Return a share of a job's wait until a time, in whole seconds.

    Parameters
    ----------
    until
        End of the wait, in seconds.
    share
        Factor of the wait.
    jobs
        Table of jobs.

    Returns
    -------
    int
        Seconds, rounded down.
    """
    return int(min(share * (until - jobs[row, SUBMIT_TIME]), FOR_EVER))
