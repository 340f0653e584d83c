"""Compiled decisions that are pending, or made by Python: their making, delay and application.

A rule of the core starts jobs as it decides; where that takes simulated time, the starts are taken
back until the decision is due. Python's decisions come as lists. Where neither is the case, `lost`
and `dismissed` are None and none of this is compiled.
"""

from hpcsched.dispatching.core.codes import (
    ANSWERED,
    ASKED,
    ASKED_QUEUED,
    ASKED_RUNNING,
    ASKED_SHOWN,
    CELL,
    CELL_DEMAND,
    DECIDED,
    DISMISSED,
    DUE,
    ENDED_ANY,
    FLIGHT,
    FLYING,
    FLYING_CHANGED,
    FREED_UNTIL,
    HELD_BACK,
    NEVER,
    NOW,
    OUT_ROUNDS,
    PHASE,
    PREDICTED,
    PROMISE,
    QUEUED,
    REQUEST,
    RESERVED,
    ROUND,
    ROUND_COLUMNS,
    ROUND_LATENCY,
    ROUND_NOW,
    RUNNING,
    SHAPE,
    SPAN,
    STARTED,
    UNITS,
    WAITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import add_waiting, change_node, remove_waiting
from hpcsched.dispatching.core.job_kernels import (
    begin,
    drop_end,
    hold_back,
    leave_queue,
    stop_running,
)
from hpcsched.dispatching.core.shared_resource_kernels import overdraws
from hpcsched.dispatching.core.slot_kernels import drop_cells
from hpcsched.dispatching.core.state import ByNode
from hpcsched.system.system import IntArray


@compiled()
def flies(state: State, lost: IntArray | None) -> bool:
    """Check whether a decision is pending."""
    return lost is not None and bool(state.counters[FLYING])


@compiled()
def take_back(queued: int, running: int, state: State, by_node: ByNode) -> None:
    """Take back the starts of a round until its decision is due; their places stay reserved.

    Parameters
    ----------
    queued
        Number of queued jobs before the round.
    running
        Number of running jobs before the round.
    """
    counters, jobs = state.counters, state.jobs
    _note_asking(queued, running, counters[QUEUED], counters)
    counters[DECIDED] = counters[STARTED]
    for k in range(counters[DECIDED]):
        row = state.started[k]
        units, shape = jobs[row, UNITS], jobs[row, SHAPE]
        # `stop_running` finds the row by its planned end, which must be that of the start.
        drop_end(row, state)
        stop_running(row, state)
        jobs[row, WAITS] = 1
        counters[CELL_DEMAND] += min(units, state.available.shape[1])
        for r in range(len(state.waiting_amounts)):
            state.waiting_amounts[r] += units * state.asked[shape, r]
        _change_room(row, -1, state, by_node)
        # Rules take it to have started.
        jobs[row, PROMISE] = jobs[row, RESERVED] = NEVER
        if by_node is not None:
            _wait_on(row, state, state.down)
    counters[STARTED] = 0
    leave_queue(state)
    _take_off(state, state.lost)


@compiled()
def _note_asking(queued: int, running: int, shown: int, counters: IntArray) -> None:
    """Record the time of a decision request and the numbers of jobs at that time."""
    counters[ASKED] = counters[DUE] = counters[NOW]
    counters[ASKED_QUEUED], counters[ASKED_RUNNING] = queued, running
    counters[ASKED_SHOWN] = shown


@compiled()
def _take_off(state: State, lost: IntArray) -> None:
    """Mark a decision as pending until it is due."""
    counters = state.counters
    counters[PHASE] = FLIGHT
    counters[FLYING], counters[FLYING_CHANGED] = 1, 0
    for r in range(len(lost)):
        lost[r] = 0


@compiled()
def is_to_ask(counters: IntArray, dismissed: IntArray | None) -> bool:
    """Check whether Python must make the decision of a round."""
    return dismissed is not None and bool(counters[ANSWERED] == 0)


@compiled()
def take_answer(state: State, lost: IntArray | None) -> bool:
    """Take Python's decision for a round; return whether it is applied at once.

    The places of the jobs that it starts are in their cells, and slots are taken already.

    Parameters
    ----------
    lost
        None where decisions take no simulated time.

    Returns
    -------
    bool
        Whether the decision is applied at once.
    """
    counters, jobs = state.counters, state.jobs
    counters[ROUND] += 1
    counters[ANSWERED] = counters[ENDED_ANY] = 0
    shown = counters[QUEUED] - counters[HELD_BACK]
    _note_asking(counters[QUEUED], counters[RUNNING], shown, counters)
    if lost is None:
        return True
    _take_off(state, lost)
    for k in range(counters[DECIDED]):
        row = state.started[k]
        jobs[row, SHAPE] = jobs[row, REQUEST]
        jobs[row, SPAN] = -1
    return False


@compiled()
def _wait_on(row: int, state: State, down: IntArray | None) -> None:
    """Update the fit counts for a job that waits on; beside outages, the next round does."""
    jobs = state.jobs
    if down is None:
        add_waiting(jobs[row, SHAPE], state)
    else:
        jobs[row, SHAPE] = jobs[row, REQUEST]
        jobs[row, SPAN] = -1


@compiled()
def _change_room(row: int, sign: int, state: State, by_node: ByNode) -> None:
    """Mark the places of a job as taken (sign 1) or as free (-1).

    Slots stay out of the intervals of free ones: nothing else starts until the decision is due.
    """
    if by_node is None:
        units, shape = state.jobs[row, UNITS], state.jobs[row, SHAPE]
        for r in range(len(state.free_amounts)):
            state.free_amounts[r] -= sign * units * state.asked[shape, r]
        return
    cells, cell = state.cells, state.jobs[row, CELL]
    while cell != -1:
        change_node(cells[cell, 0], cells[cell, 1], state.jobs[row, SHAPE], sign, state)
        cell = cells[cell, 2]


@compiled()
def fly(event: int, state: State, lost: IntArray | None) -> bool:
    """Advance to the next event or to the due time of the decision.

    Parameters
    ----------
    event
        Time of the next event, in seconds.
    lost
        Idle capacity × seconds by resource type, `[R]`; updated.

    Returns
    -------
    bool
        Whether the event comes first or at the same time.
    """
    if lost is None:
        return False
    counters = state.counters
    now = min(event, counters[DUE])
    for r in range(len(lost)):
        idle = min(state.waiting_amounts[r], state.free_amounts[r])
        lost[r] += idle * (now - counters[NOW])
    counters[NOW] = now
    if event > now:
        return False
    counters[FLYING_CHANGED] = 1
    return True


@compiled()
def carry_out(state: State, by_node: ByNode) -> None:
    """Apply the decision that is due; jobs without their nodes or shared resources do not start."""
    counters, jobs, now = state.counters, state.jobs, state.counters[NOW]
    counters[STARTED] = 0
    hold_back(state)
    # `begin` writes `started` at or before place k, so that it can be read meanwhile.
    for k in range(counters[DECIDED]):
        row = state.started[k]
        shut_out = _is_shut_out(row, now, state, state.down)
        if shut_out or overdraws(row, now, state, state.shared_drawn):
            drop_cells(jobs[row, CELL], state.cells, counters)
            jobs[row, CELL] = -1
            # Rules that keep reservations find that it runs no more.
            until = counters[ASKED] + jobs[row, PREDICTED]
            counters[FREED_UNTIL] = max(counters[FREED_UNTIL], until)
            continue
        _change_room(row, 1, state, by_node)
        begin(row, jobs[row, CELL], now, state)
        if by_node is not None:
            _wait_no_more(row, state, state.down)
    dismisses = _dismiss_all(state, state.dismissed)
    if counters[STARTED] or counters[HELD_BACK] or dismisses:
        leave_queue(state)
        _leave_dismissed(counters, state.dismissed)
    counters[FLYING] = 0


@compiled()
def _dismiss_all(state: State, dismissed: IntArray | None) -> bool:
    """Take the jobs that Python rejects out of the amounts that wait; return whether any."""
    if dismissed is None:
        return False
    counters, jobs = state.counters, state.jobs
    for k in range(counters[DISMISSED]):
        row = dismissed[k]
        units, shape = jobs[row, UNITS], jobs[row, SHAPE]
        jobs[row, WAITS] = 0
        counters[CELL_DEMAND] -= min(units, state.available.shape[1])
        for r in range(len(state.waiting_amounts)):
            state.waiting_amounts[r] -= units * state.asked[shape, r]
    return counters[DISMISSED] > 0


@compiled()
def _leave_dismissed(counters: IntArray, dismissed: IntArray | None) -> None:
    """Subtract the jobs that Python has rejected from the queue's length."""
    if dismissed is not None:
        counters[QUEUED] -= counters[DISMISSED]


@compiled()
def _is_shut_out(row: int, now: int, state: State, down: IntArray | None) -> bool:
    """Check whether a node of a job to start is out of service, or will be before its end."""
    if down is None:
        return False
    cells, cell = state.cells, state.jobs[row, CELL]
    while cell != -1:
        node = cells[cell, 0]
        if down[node] or state.clear_until[node] < now + state.jobs[row, PREDICTED]:
            return True
        cell = cells[cell, 2]
    return False


@compiled()
def _wait_no_more(row: int, state: State, down: IntArray | None) -> None:
    """Update the fit counts for a job of `_wait_on` that has started."""
    if down is None:
        remove_waiting(state.jobs[row, SHAPE], state)


@compiled()
def write_flight(state: State, lost: IntArray) -> None:
    """Write request time and latency into the last row of the table of rounds."""
    counters = state.counters
    row, amounts = state.out_rounds[counters[OUT_ROUNDS] - 1], len(state.totals)
    row[ROUND_NOW] = counters[ASKED]
    row[ROUND_LATENCY] = counters[NOW] - counters[ASKED]
    for r in range(amounts):
        row[ROUND_COLUMNS + 2 * amounts + r] = lost[r]
