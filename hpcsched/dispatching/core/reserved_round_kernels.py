"""Compiled rounds with a reservation for every waiting job, most from earlier rounds.

These are conservative backfilling, and slack-based backfilling, which moves reservations aside.
"""

from hpcsched.dispatching.core.announced_outage_kernels import counts_units
from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    BY_RESERVATION,
    FIRST_MADE,
    FREED_UNTIL,
    HELD_BACK,
    LAST_ASKED,
    LAST_MADE,
    NEVER,
    OTHER,
    PREDICTED,
    PROMISE,
    QUEUED,
    RESERVED,
    RESERVED_FOR,
    SEQUENCE,
    SHAPE,
    SLACK,
    UNITS,
    WAITS,
    WHEN,
    WHY,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State, Steps
from hpcsched.dispatching.core.heap_kernels import make_heap, pop
from hpcsched.dispatching.core.node_profile_kernels import close_ahead, open_profile
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.reservation_kernels import (
    cancel,
    drop_places,
    fits_beside,
    hold,
    keep_of_shared,
    reserve,
    start_beside,
    steps_of_round,
    take_reserved,
)
from hpcsched.dispatching.core.shared_resource_kernels import draws_less, open_shared
from hpcsched.dispatching.core.slack_kernels import push_aside
from hpcsched.dispatching.core.start_kernels import fits_now, note_shared_resource, pressure_on
from hpcsched.dispatching.core.state import ByNode, Explains, FloatArray
from hpcsched.system.system import IntArray

BY_START = (RESERVED, SEQUENCE)
"""Sort columns of reservations: start, then arrival."""


@compiled()
def keep_promises(now: int, state: State, by_node: ByNode, explains: Explains) -> None:
    """Hold a round of conservative or slack-based backfilling."""
    counters, jobs, queue = state.counters, state.jobs, state.queue
    count = counters[QUEUED]
    if count == 0:
        return
    freed = counters[FREED_UNTIL] > now or _any_back(state, state.down)
    for k in range(count, count + counters[HELD_BACK]):
        # A job that a round is not shown loses its reservation, and is promised a start anew.
        freed |= jobs[queue[k], RESERVED] != NEVER
        jobs[queue[k], RESERVED] = NEVER
        drop_places(queue[k], state)
    counters[FREED_UNTIL] = 0
    counters[LAST_ASKED] = now
    pressure = pressure_on(state)
    open_shared(now, state, state.shared_drawn)
    running = by_shown_end(now, state.correction, state)
    counted = counts_units(now, state)
    if by_node is None or counted:
        if by_node is not None:
            for k in range(count):
                drop_places(queue[k], state)
        steps = steps_of_round(now, running, state, by_node)
        _hold_round(now, freed, steps, None, state, by_node, pressure)
        if explains is not None:
            _explain(now, steps, None, state, by_node)
    else:
        profile = open_profile(now, running, state)
        close_ahead(now, profile, state, state.outage_nodes)
        _hold_round(now, freed, None, profile, state, by_node, pressure)
        if explains is not None:
            _explain(now, None, profile, state, by_node)


@compiled()
def _any_back(state: State, down: IntArray | None) -> bool:
    """Check whether a node is back in service since the last round, and note those that are out."""
    found = False
    if down is not None:
        for node in range(len(down)):
            found |= state.missed[node] and not state.closed[node]
            state.missed[node] = state.closed[node]
    return found


@compiled()
def _hold_round(
    now: int,
    freed: bool,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> None:
    """Restore all reservations, make those of new jobs, then start jobs.

    Parameters
    ----------
    freed
        Whether there is room that the last round did not foresee. Reservations are moved up into it
        before new jobs get theirs.
    """
    counters, jobs, queue = state.counters, state.jobs, state.queue
    count = counters[QUEUED]
    counters[FIRST_MADE] = counters[LAST_MADE] = -1
    if _take_up(now, steps, profile, state) or freed:
        _compress(now, steps, profile, state)
    for k in range(count):
        row = queue[k]
        if jobs[row, RESERVED] == NEVER:
            begin = reserve(row, now, NEVER, now, steps, profile, state)
            if begin != NEVER:
                jobs[row, PROMISE] = begin
    again = True
    while again:
        again = left_room = False
        for k in range(count):
            row = queue[k]
            if jobs[row, WAITS] == 0 or not _has_room(row, state, by_node, state.shared_free):
                continue
            reserved = jobs[row, RESERVED]
            if _start(row, now, steps, profile, state, by_node, pressure):
                again = True
                left_room |= reserved > now or draws_less(row, state, state.shared_free)
        # A job that starts before its reservation leaves room where that one was.
        if left_room:
            _compress(now, steps, profile, state)


@compiled()
def _explain(
    now: int, steps: Steps | None, profile: Profile | None, state: State, by_node: ByNode
) -> None:
    """Note the reserved starts of waiting jobs, and the obstacles of those that fit now."""
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    keep_of_shared(-1, state, state.shared_free)
    for k in range(count):
        row = queue[k]
        if jobs[row, WAITS] == 0:
            continue
        jobs[row, WHEN] = jobs[row, RESERVED]
        if fits_now(row, state, by_node):
            jobs[row, WHY] = RESERVED_FOR
        else:
            jobs[row, OTHER] = -1
            note_shared_resource(row, state, state.shared_free)
    keep_of_shared(1, state, state.shared_free)
    for k in range(count):
        row = queue[k]
        if jobs[row, WAITS] and jobs[row, WHY] == RESERVED_FOR and state.rule != SLACK:
            jobs[row, OTHER] = _in_the_way(row, now, steps, profile, state)


@compiled()
def _has_room(row: int, state: State, by_node: ByNode, shared_free: IntArray | None) -> bool:
    """Check whether a job may fit now, regardless of reservations."""
    if shared_free is None:
        return fits_now(row, state, by_node)
    if state.jobs[row, UNITS] > state.fitting[state.jobs[row, SHAPE]]:
        return False
    if state.rule != SLACK:  # Shared resources are asked when the job is tried.
        return True
    keep_of_shared(-1, state, shared_free)
    fits = fits_now(row, state, by_node)
    keep_of_shared(1, state, shared_free)
    return fits


@compiled()
def _in_the_way(
    row: int, now: int, steps: Steps | None, profile: Profile | None, state: State
) -> int:
    """Return the first job, by arrival, with a reservation that keeps another waiting; -1 if none.

    That is the first that leaves too little for a start now, together with those that arrived
    before.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    end, before = now + jobs[row, PREDICTED], cancel(row, steps, profile, state)
    for k in range(count):
        other = queue[k]
        if jobs[other, WAITS] and other != row and jobs[other, RESERVED] < end:
            take_reserved(other, -1, steps, profile, state)
    found = -1
    for k in range(count):
        other = queue[k]
        if jobs[other, WAITS] and other != row and jobs[other, RESERVED] < end:
            take_reserved(other, 1, steps, profile, state)
            if found == -1 and not fits_beside(row, now, steps, profile, state):
                found = other
    hold(row, before, steps, profile, state)
    return found


@compiled()
def _take_up(now: int, steps: Steps | None, profile: Profile | None, state: State) -> bool:
    """Restore the reservations of earlier rounds, by start; return whether any had to be moved.

    One that no longer fits, because running jobs have outlived their predictions, is moved to the
    earliest later time beside those before it.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    kept = numbers(count)
    found = 0
    for k in range(count):
        if jobs[queue[k], RESERVED] != NEVER:
            kept[found] = queue[k]
            found += 1
    _sort_by_start(kept, found, jobs)
    moved = False
    for k in range(found):
        begin = max(jobs[kept[k], RESERVED], now)
        if not hold(kept[k], begin, steps, profile, state):
            reserve(kept[k], begin, NEVER, now, steps, profile, state)
            moved = True
    return moved


@compiled()
def _compress(now: int, steps: Steps | None, profile: Profile | None, state: State) -> None:
    """Move each reservation to the earliest time beside all others, one after the other.

    None becomes later, since its own room is free when the new one is searched; but for a job that
    an outage keeps from nodes on which its room was.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    waiting = numbers(count)
    found = 0
    for k in range(count):
        if jobs[queue[k], WAITS] and jobs[queue[k], RESERVED] != NEVER:
            waiting[found] = queue[k]
            found += 1
    if state.compression == BY_RESERVATION:
        _sort_by_start(waiting, found, jobs)
    for k in range(found):
        latest = cancel(waiting[k], steps, profile, state)
        if reserve(waiting[k], now, latest, now, steps, profile, state) == NEVER != latest:
            reserve(waiting[k], now, NEVER, now, steps, profile, state)


@compiled()
def _start(
    row: int,
    now: int,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> bool:
    """Start a job that fits now, if reservations allow; return whether it has started."""
    before = cancel(row, steps, profile, state)
    if start_beside(row, now, steps, profile, state, by_node, pressure):
        return True
    hold(row, before, steps, profile, state)
    if state.rule != SLACK:
        return False
    return push_aside(row, now, steps, profile, state, by_node, pressure)


@compiled()
def _sort_by_start(rows: IntArray, count: int, jobs: IntArray) -> None:
    """Sort the first rows by the starts of their reservations, ties in order of arrival."""
    make_heap(count, rows, jobs, BY_START)
    for left in range(count, 1, -1):
        first = rows[0]
        pop(left, rows, jobs, BY_START)
        rows[left - 1] = first
    for k in range(count // 2):
        rows[k], rows[count - 1 - k] = rows[count - 1 - k], rows[k]
