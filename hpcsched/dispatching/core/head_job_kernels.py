"""Compiled EASY backfilling behind a head job, by number of slots and node by node."""

from hpcsched.dispatching.core.announced_outage_kernels import move_shadow
from hpcsched.dispatching.core.array_kernels import numbers, table_of_zeros, zeros
from hpcsched.dispatching.core.codes import (
    CELL,
    COMMITTED_BACKFILL,
    FREE_SLOTS,
    NEVER,
    OTHER,
    PREDICTED,
    PROMISE,
    QUEUED,
    RELAXED,
    RESERVED_FOR,
    SHAPE,
    SHOWN_END,
    UNITS,
    WAITS,
    WHEN,
    WHY,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import room_on, take_from
from hpcsched.dispatching.core.job_kernels import share_of_wait
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.placement_kernels import fill_by_number, fill_by_rank
from hpcsched.dispatching.core.shared_resource_kernels import leaves_shared_to, shared_suffice
from hpcsched.dispatching.core.start_kernels import (
    choose_now,
    fits_now,
    start,
    start_where_placed,
)
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def pass_by_count(now: int, place: int, last: int, state: State, pressure: FloatArray) -> None:
    """Backfill behind the head job of EASY, counting slots.

    Jobs that run past the shadow time use the spare slots of that time; beside a chosen job, none
    may.

    Parameters
    ----------
    place
        Place of the head job in the queue.
    last
        Place of the last job that fits by itself.
    """
    counters, jobs, queue = state.counters, state.jobs, state.queue
    count = counters[QUEUED]
    head, ends = queue[place], by_shown_end(now, state.correction, state)
    # The shadow time: the earliest at which the head job fits, all ends of that instant counted.
    time, spare, ended = now, counters[FREE_SLOTS] - jobs[head, UNITS], 0
    while spare < 0 and ended < len(ends):
        time = jobs[ends[ended], SHOWN_END]
        spare, ended = _count_ended(time, spare, ended, ends, jobs)
    if state.rule == RELAXED:
        time = _latest_start(head, time, state)
        spare, ended = _count_ended(time, spare, ended, ends, jobs)
    jobs[head, WHEN] = time
    if state.rule == COMMITTED_BACKFILL:
        time, spare = _latest_end(head, time, jobs), -1
    if state.own_backfill_order:
        queue, place, last = state.behind, -1, count - 1
    for k in range(place + 1, last + 1):
        row = queue[k]
        units = jobs[row, UNITS]
        # In an own backfill order the head job and started jobs come up again.
        if units > counters[FREE_SLOTS] or jobs[row, WAITS] == 0 or row == head:
            continue
        if now + jobs[row, PREDICTED] > time:
            if units > spare:
                jobs[row, WHY] = RESERVED_FOR
                jobs[row, OTHER] = head
                continue
            spare -= units
        start(row, now, state, None, pressure)


@compiled()
def _latest_start(head: int, shadow: int, state: State) -> int:
    """Return the latest start of a head job under relaxation, and update its promise.

    The promise is the earliest shadow time that it has had.
    """
    jobs = state.jobs
    promise = jobs[head, PROMISE] = min(shadow, jobs[head, PROMISE])
    return max(shadow, promise + share_of_wait(head, promise, state.relaxation, jobs))


@compiled()
def _latest_end(head: int, shadow: int, jobs: IntArray) -> int:
    """Return the latest end of a job that passes a chosen one: before its expected start.

    The expected start is the shadow time of the chosen job when it was chosen, stored as its
    promise.
    """
    if jobs[head, PROMISE] == NEVER:
        jobs[head, PROMISE] = min(shadow, NEVER - 1)
    return jobs[head, PROMISE] - 1


@compiled()
def _count_ended(
    time: int, units: int, ended: int, ends: IntArray, jobs: IntArray
) -> tuple[int, int]:
    """Add the units of jobs that end by `time`; return the sum and the number of jobs added.

    `ended` jobs have been added before.
    """
    while ended < len(ends) and jobs[ends[ended], SHOWN_END] <= time:
        units += jobs[ends[ended], UNITS]
        ended += 1
    return units, ended


@compiled()
def pass_on_nodes(now: int, at: int, last: int, state: State, pressure: FloatArray) -> None:
    """Backfill behind the head job of EASY, node by node.

    The head job's nodes are not fixed: a job that runs past the shadow time is started if enough of
    the head job's units still fit beside it then, on the nodes of the allocator's choice or on
    those where it costs the head job little.

    Parameters
    ----------
    at
        Place of the head job in the queue.
    last
        Place of the last job that fits by itself.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    head = queue[at]
    # Copies: they become the free amounts at the shadow time, and reservations reduce them.
    then, head_fits = state.available.copy(), state.fits[jobs[head, SHAPE]].copy()
    time, spare = _find_shadow(head, now, then, head_fits, state)
    jobs[head, WHEN] = time
    if state.rule == COMMITTED_BACKFILL:
        time, spare = _latest_end(head, time, jobs), -1
    if state.own_backfill_order:
        queue, at, last = state.behind, -1, count - 1
    for k in range(at + 1, last + 1):
        row = queue[k]
        if jobs[row, WAITS] == 0 or row == head or not fits_now(row, state, True):
            continue
        placed = choose_now(row, state, pressure)
        if now + jobs[row, PREDICTED] > time:
            lost = -1
            if spare >= 0 and leaves_shared_to(head, time, row, now, state, state.shared_free):
                lost = _reserve_beside(row, placed, spare, then, head_fits, head, state)
                if lost < 0:
                    # The allocator's own nodes cost the head job too much; others may cost it less.
                    placed = _least_loss(row, then, head_fits, head, state)
                    lost = _reserve_beside(row, placed, spare, then, head_fits, head, state)
            if lost < 0:
                jobs[row, WHY] = RESERVED_FOR
                jobs[row, OTHER] = head
                continue
            spare -= lost
        start_where_placed(row, placed, now, state)


@compiled()
def _find_shadow(
    head: int,
    now: int,
    then: IntArray,
    head_fits: IntArray,
    state: State,
) -> tuple[int, int]:
    """Return the time of a head job's reservation, and the number of spare units then.

    `then`, `[R, N]`, and `head_fits`, `[N]`, are the free amounts and the fit counts now; they are
    updated to those at that time.
    """
    jobs, ends = state.jobs, by_shown_end(now, state.correction, state)
    shape, spare = jobs[head, SHAPE], -jobs[head, UNITS]
    for node in range(len(head_fits)):
        spare += head_fits[node]
    time, ended = now, 0
    while spare < 0 and ended < len(ends):
        time = jobs[ends[ended], SHOWN_END]
        spare, ended = _end_by(time, spare, ended, ends, shape, then, head_fits, state)
    time, spare = move_shadow(head, time, spare, now, then, head_fits, state)
    if state.rule != RELAXED or time == NEVER:
        return time, spare
    latest = _latest_start(head, time, state)
    if latest == time or not shared_suffice(head, latest, state, state.shared_free):
        return time, spare
    left, ended = _end_by(latest, spare, ended, ends, shape, then, head_fits, state)
    later, left = move_shadow(head, latest, left, now, then, head_fits, state)
    if later == latest:
        return latest, left
    # Too few nodes stay in service then, so that the reservation is not moved.
    return move_shadow(head, time, spare, now, then, head_fits, state)


@compiled()
def _end_by(
    time: int,
    units: int,
    ended: int,
    ends: IntArray,
    shape: int,
    then: IntArray,
    fits: IntArray,
    state: State,
) -> tuple[int, int]:
    """Give back the capacity of jobs that end by `time` in `then`, `[R, N]`.

    `ended` jobs have been given back before. `fits`, `[N]`, counts the units of a shape that fit on
    each node; `units` is their sum plus a constant. Return `units` and the number of ended jobs.
    """
    jobs, cells = state.jobs, state.cells
    while ended < len(ends) and jobs[ends[ended], SHOWN_END] <= time:
        row = ends[ended]
        ended += 1
        cell = jobs[row, CELL]
        while cell != -1:
            node = cells[cell, 0]
            take_from(node, cells[cell, 1], jobs[row, SHAPE], -1, then, state)
            units -= fits[node]
            fits[node] = room_on(node, shape, then, state)
            units += fits[node]
            cell = cells[cell, 2]
    return units, ended


@compiled()
def _reserve_beside(
    row: int,
    placed: IntArray,
    spare: int,
    then: IntArray,
    head_fits: IntArray,
    head: int,
    state: State,
) -> int:
    """Reserve room for a job past the shadow time, if enough is left for the head job.

    Return the head job's units that it costs, or -1 and no reservation if these are more than
    `spare`.
    """
    shape, head_shape = state.jobs[row, SHAPE], state.jobs[head, SHAPE]
    lost = 0
    for node in range(len(placed)):
        if placed[node]:
            take_from(node, placed[node], shape, 1, then, state)
            lost += head_fits[node] - room_on(node, head_shape, then, state)
    for node in range(len(placed)):
        if placed[node]:
            if lost > spare:
                take_from(node, placed[node], shape, -1, then, state)
            else:
                head_fits[node] = room_on(node, head_shape, then, state)
    return lost if lost <= spare else -1


@compiled()
def _least_loss(row: int, then: IntArray, head_fits: IntArray, head: int, state: State) -> IntArray:
    """Return a placement that costs the head job little, `[N]`.

    First come the units that cost nothing, since they fit beside all of the head job's units that a
    node could hold; then, node by node, those that cost least per unit.
    """
    jobs = state.jobs
    shape, head_shape, units = jobs[row, SHAPE], jobs[head, SHAPE], jobs[row, UNITS]
    fits = state.fits[shape]
    beside = numbers(len(fits))
    cost = table_of_zeros(1, len(fits))
    without_cost = 0
    for node in range(len(fits)):
        beside[node] = 0
        if fits[node] == 0:
            continue
        # With the head job on the node, and taken away again after the count.
        if head_fits[node]:
            take_from(node, head_fits[node], head_shape, 1, then, state)
        beside[node] = min(fits[node], room_on(node, shape, then, state))
        if head_fits[node]:
            take_from(node, head_fits[node], head_shape, -1, then, state)
        without_cost += beside[node]
        # The other way round: how many units of the head job go if this job fills the node.
        take_from(node, fits[node], shape, 1, then, state)
        loss = head_fits[node] - room_on(node, head_shape, then, state)
        take_from(node, fits[node], shape, -1, then, state)
        cost[0, node] = loss / fits[node]
    if without_cost >= units:
        placed = zeros(len(fits))
        fill_by_number(units, beside, placed)
        return placed
    left = numbers(len(fits))
    for node in range(len(fits)):
        left[node] = fits[node] - beside[node]
    fill_by_rank(units - without_cost, left, cost, beside)
    return beside
