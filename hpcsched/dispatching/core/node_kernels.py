"""Compiled rules on nodes: what fits is looked up, and reserved, node by node."""

import numpy as np

from hpcsched.dispatching.core.codes import (
    ACTIVE_SHAPES,
    CELL,
    EASY,
    GREEDY,
    PREDICTED,
    QUEUED,
    SHAPE,
    SHOWN_END,
    STRICT,
    UNITS,
    WAITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.counted_kernels import reserve_by_count, steps_within, take_steps
from hpcsched.dispatching.core.job_kernels import begin, by_shown_end, take_nodes
from hpcsched.dispatching.core.node_profile_kernels import (
    fits_in_profile,
    open_profile,
    reserve_in_profile,
    start_in_profile,
)
from hpcsched.dispatching.core.placement_kernels import fill_by_number, fill_by_rank, place
from hpcsched.dispatching.core.room_kernels import room_on, take_from
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def start_where_placed(row: int, placed: IntArray, now: int, state: State) -> None:
    """Start a job with `placed`, `[N]`, units on each node."""
    begin(row, take_nodes(row, placed, state), now, state)


@compiled()
def choose_now(row: int, state: State, pressure: FloatArray) -> IntArray:
    """Return how many units of a job the allocator would place on each node now, `[N]`."""
    shape = state.jobs[row, SHAPE]
    return place(
        state.allocator,
        state.jobs[row, UNITS],
        state.fits[shape],
        state.available,
        state.asked[shape],
        state.capacity,
        state.totals,
        pressure,
    )


@compiled()
def fits_now(row: int, state: State) -> bool:
    """Say whether a job could be placed now."""
    return bool(state.jobs[row, UNITS] <= state.fitting[state.jobs[row, SHAPE]])


@compiled()
def _find_candidates(candidates: IntArray, state: State) -> int:
    """Write the places in the queue of the jobs that fit, each by itself; return how many."""
    found = 0
    for k in range(len(candidates)):
        if fits_now(state.queue[k], state):
            candidates[found] = k
            found += 1
    return found


@compiled()
def _start_in_order(now: int, state: State, pressure: FloatArray) -> int:
    """Start the first jobs of the queue, up to one that does not fit; return its place."""
    place, count = 0, state.counters[QUEUED]
    while place < count and fits_now(state.queue[place], state):
        row = state.queue[place]
        start_where_placed(row, choose_now(row, state, pressure), now, state)
        place += 1
    return place


@compiled()
def decide_on_nodes(now: int, state: State) -> None:
    """Start what the rule starts now."""
    counters, queue, count = state.counters, state.queue, state.counters[QUEUED]
    candidates = np.empty(count, np.int64)
    found = _find_candidates(candidates, state)
    if found == 0:
        return
    pressure = np.zeros(len(state.totals))
    for r in range(len(state.totals)):
        if state.totals[r]:
            wanted = state.waiting_amounts[r] + state.running_amounts[r]
            pressure[r] = wanted / state.totals[r]
    # Units of one shape can be counted, whatever runs, unless they are uncountable.
    alike = counters[ACTIVE_SHAPES] == 1 and not state.uncountable[state.jobs[queue[0], SHAPE]]
    at = _start_in_order(now, state, pressure)
    while found and (
        candidates[found - 1] <= at or not fits_now(queue[candidates[found - 1]], state)
    ):
        found -= 1
    if found == 0 or state.rule == STRICT:
        return
    if state.rule == EASY:
        _pass_head_job(now, at, candidates[found - 1], state, pressure)
    elif state.rule == GREEDY:
        for k in range(at + 1, count):
            if fits_now(queue[k], state):
                start_where_placed(queue[k], choose_now(queue[k], state, pressure), now, state)
    elif alike:
        _backfill_by_count(now, at, candidates, found, state, pressure)
    else:
        _backfill_on_nodes(now, at, candidates, found, state, pressure)


@compiled()
def _pass_head_job(now: int, at: int, last: int, state: State, pressure: FloatArray) -> None:
    """Start jobs behind the head job of EASY, at place `at`, that do not delay it.

    `last` is the place of the last job that fits by itself.
    """
    jobs, queue, count = state.jobs, state.queue, state.counters[QUEUED]
    head = queue[at]
    then, head_fits = state.available.copy(), state.fits[jobs[head, SHAPE]].copy()
    time, spare = _find_shadow(head, now, then, head_fits, state)
    if state.own_backfill_order:
        queue, at, last = state.behind, -1, count - 1
    for k in range(at + 1, last + 1):
        row = queue[k]
        if jobs[row, WAITS] == 0 or row == head or not fits_now(row, state):
            continue
        placed = choose_now(row, state, pressure)
        if now + jobs[row, PREDICTED] > time:
            lost = _reserve_beside(row, placed, spare, then, head_fits, head, state)
            if lost < 0:
                placed = _least_loss(row, then, head_fits, head, state)
                lost = _reserve_beside(row, placed, spare, then, head_fits, head, state)
            if lost < 0:
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
    """Return the shadow time of a head job, and how many more of its units fit then.

    `then`, `[R, N]`, and `head_fits`, `[N]`, are what is free now and how many of its units fit; on
    return they are what they are at the shadow time.
    """
    jobs, cells = state.jobs, state.cells
    shape, units = jobs[head, SHAPE], jobs[head, UNITS]
    time, total = now, 0
    for node in range(len(head_fits)):
        total += head_fits[node]
    for row in by_shown_end(now, state.correction, state):
        if jobs[row, SHOWN_END] != time:
            if total >= units:
                break
            time = jobs[row, SHOWN_END]
        cell = jobs[row, CELL]
        while cell != -1:
            node = cells[cell, 0]
            take_from(node, cells[cell, 1], jobs[row, SHAPE], -1, then, state)
            total -= head_fits[node]
            head_fits[node] = room_on(node, shape, then, state)
            total += head_fits[node]
            cell = cells[cell, 2]
    return time, total - units


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
    """Take the room of a job that runs past the shadow time, if the head job keeps enough.

    Return how many of the head job's units it costs, or -1 where these are more than are spare; in
    that case nothing is taken.
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

    First come the units that cost it nothing, since they fit beside all of its units that a node
    could hold; then, node by node, those that cost least for each unit.
    """
    jobs = state.jobs
    shape, head_shape, units = jobs[row, SHAPE], jobs[head, SHAPE], jobs[row, UNITS]
    fits = state.fits[shape]
    beside = np.empty(len(fits), np.int64)
    cost = np.zeros((1, len(fits)))
    without_cost = 0
    for node in range(len(fits)):
        beside[node] = 0
        if fits[node] == 0:
            continue
        if head_fits[node]:
            take_from(node, head_fits[node], head_shape, 1, then, state)
        beside[node] = min(fits[node], room_on(node, shape, then, state))
        if head_fits[node]:
            take_from(node, head_fits[node], head_shape, -1, then, state)
        without_cost += beside[node]
        take_from(node, fits[node], shape, 1, then, state)
        loss = head_fits[node] - room_on(node, head_shape, then, state)
        take_from(node, fits[node], shape, -1, then, state)
        cost[0, node] = loss / fits[node]
    if without_cost >= units:
        placed = np.zeros(len(fits), np.int64)
        fill_by_number(units, beside, placed)
        return placed
    fill_by_rank(units - without_cost, fits - beside, cost, beside)
    return beside


@compiled()
def _backfill_by_count(
    now: int,
    at: int,
    candidates: IntArray,
    found: int,
    state: State,
    pressure: FloatArray,
) -> None:
    """Start or reserve, job by job, where all that wait ask alike, from place `at` on.

    It goes on as long as a job that could start now is still to come: `candidates` has the places
    of the `found` jobs that fit, each by itself.
    """
    counters, jobs, queue, cells = state.counters, state.jobs, state.queue, state.cells
    shape = jobs[queue[at], SHAPE]
    running = by_shown_end(now, state.correction, state)
    size = len(running) + 2 * (counters[QUEUED] - at) + 2
    times, free = np.empty(size, np.int64), np.empty(size, np.int64)
    then, fits = state.available.copy(), state.fits[shape].copy()
    times[0], free[0] = now, state.fitting[shape]
    steps = 1
    for row in running:
        end = jobs[row, SHOWN_END]
        if end != times[steps - 1]:
            times[steps] = end
            free[steps] = free[steps - 1]
            steps += 1
        cell = jobs[row, CELL]
        while cell != -1:
            node = cells[cell, 0]
            take_from(node, cells[cell, 1], jobs[row, SHAPE], -1, then, state)
            more = room_on(node, shape, then, state) - fits[node]
            fits[node] += more
            free[steps - 1] += more
            cell = cells[cell, 2]
    reservations = 0
    while found and candidates[found - 1] >= at:
        row = queue[at]
        units, run_time = jobs[row, UNITS], jobs[row, PREDICTED]
        if candidates[found - 1] == at:
            found -= 1
        at += 1
        step = steps_within(now + run_time, units, steps, times, free)
        if step:
            steps = take_steps(0, step, now + run_time, units, steps, times, free)
            placed = choose_now(row, state, pressure)
            start_where_placed(row, placed, now, state)
        elif state.depth < 0 or reservations < state.depth:
            start, steps = reserve_by_count(run_time, units, steps, times, free)
            reservations += 1
            if found and start - now >= jobs[queue[candidates[found - 1]], PREDICTED]:
                continue
        else:
            continue
        while found:
            row = queue[candidates[found - 1]]
            end = now + jobs[row, PREDICTED]
            if steps_within(end, jobs[row, UNITS], steps, times, free):
                break
            found -= 1


@compiled()
def _backfill_on_nodes(
    now: int,
    at: int,
    candidates: IntArray,
    found: int,
    state: State,
    pressure: FloatArray,
) -> None:
    """Start or reserve, job by job, where jobs ask for unlike units; see `_backfill_by_count`."""
    jobs, queue = state.jobs, state.queue
    profile = open_profile(now, by_shown_end(now, state.correction, state), state)
    reservations = 0
    while found and candidates[found - 1] >= at:
        row = queue[at]
        if candidates[found - 1] == at:
            found -= 1
        at += 1
        if fits_now(row, state) and fits_in_profile(row, now, profile, state):
            placed = start_in_profile(row, now, profile, state, state.allocator, pressure)
            start_where_placed(row, placed, now, state)
        elif state.depth < 0 or reservations < state.depth:
            start = reserve_in_profile(row, now, profile, state)
            reservations += 1
            if found and start - now >= jobs[queue[candidates[found - 1]], PREDICTED]:
                continue
        else:
            continue
        while found:
            row = queue[candidates[found - 1]]
            if (
                jobs[row, WAITS]
                and fits_now(row, state)
                and fits_in_profile(row, now, profile, state)
            ):
                break
            found -= 1
