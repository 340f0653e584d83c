"""Compiled list scheduling over the data of a model, on the segments of `plan_kernels`.

Pools are rows of segments behind those of the nodes, whose first resource type is what is free of
them; it is at least 0. `draws`, `[J, P]`, is what jobs draw.
"""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.plan_kernels import (
    NEVER,
    earliest,
    preference,
    take_on,
    units_during,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def _is_before(a: int, b: int, offers: FloatArray, shares: FloatArray) -> bool:
    """Say whether candidate `a` offers less than `b`, or as much and is fuller, or came before."""
    if offers[a] != offers[b]:
        return bool(offers[a] < offers[b])
    if shares[a] != shares[b]:
        return bool(shares[a] < shares[b])
    return a < b


@compiled()
def _sift(at: int, count: int, heap: IntArray, offers: FloatArray, shares: FloatArray) -> None:
    """Move down what is at a place of a heap, the first on top, until all below it is in order.

    A heap, as few of many nodes are asked for, and numba takes seconds to compile its own sorting.
    """
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and _is_before(heap[child + 1], heap[child], offers, shares):
            child += 1
        if _is_before(heap[at], heap[child], offers, shares):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@compiled()
def _earliest_in_pool(
    begin: int, run_time: int, amount: int, s: int, start: IntArray, after: IntArray, free: IntArray
) -> int:
    """Return the earliest start from `begin` on at which a pool has enough; NEVER if none.

    `s` is the pool's first segment.
    """
    while s != -1 and start[s] < begin + run_time:
        following = after[s]
        if free[s, 0] < amount and (following == -1 or start[following] > begin):
            if following == -1:
                return NEVER
            begin = start[following]
        s = following
    return begin


@compiled()
def earliest_in_pools(
    begin: int,
    run_time: int,
    draws: IntArray,
    nodes: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
) -> int:
    """Return the earliest start from `begin` on at which all pools have enough; NEVER if none.

    `draws`, `[P]`, is what the job draws, and `nodes` the number of rows before those of pools.
    """
    agreed, p = 0, 0
    while agreed < len(draws):
        later = begin
        if draws[p] > 0:
            later = _earliest_in_pool(begin, run_time, draws[p], nodes + p, start, after, free)
            if later == NEVER:
                return NEVER
        agreed = agreed + 1 if later == begin else 1
        begin = later
        p = (p + 1) % len(draws)
    return begin


@compiled()
def draw(
    begin: int,
    end: int,
    draws: IntArray,
    nodes: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
) -> None:
    """Take what a job draws from each pool, `[P]`, from `begin` to `end`."""
    amount = np.empty(1, np.int64)
    for p in range(len(draws)):
        if draws[p] > 0:
            amount[0] = draws[p]
            take_on(nodes + p, begin, end, amount, start, after, free, state)


@compiled()
def plan_job_from(
    release: int,
    j: int,
    units: IntArray,
    requests: IntArray,
    run_times: IntArray,
    room: IntArray,
    capacity: IntArray,
    totals: IntArray,
    draws: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
    placed: IntArray,
) -> int:
    """Give a job its earliest start from `release` on beside those planned; NEVER if there is none.

    Units go to the nodes first by `preference`, as many on each as fit. Writes how many into
    `placed`, `[J, N]`, and leaves alone what is there of other nodes.
    """
    count = len(capacity)
    fits = np.empty(count, np.int64)
    offers, shares = np.empty(count, np.float64), np.empty(count, np.float64)
    chosen = np.empty(count, np.int64)
    asked, on_idle = requests[j], room[j]
    begin = release
    while True:  # nodes and pools in turn, until they agree
        begin = earliest(
            begin,
            units[j],
            run_times[j],
            state[0],
            start,
            after,
            free,
            asked,
            on_idle,
            False,
            capacity,
        )
        if begin == NEVER:
            return NEVER
        later = earliest_in_pools(begin, run_times[j], draws[j], count, start, after, free)
        if later == begin:
            break
        if later == NEVER:
            return NEVER
        begin = later
    end = begin + run_times[j]
    candidates = 0
    for n in range(count):
        if on_idle[n] == 0:
            continue
        first = n
        while after[first] != -1 and start[after[first]] <= begin:
            first = after[first]
        lowest, s = on_idle[n], first
        while lowest and s != -1 and start[s] < end:
            lowest = min(lowest, units_during(s, n, free, asked, on_idle, False, capacity))
            s = after[s]
        if lowest:
            offer, share = preference(n, first, end, start, after, free, asked, capacity, totals)
            fits[candidates], offers[candidates], shares[candidates] = lowest, offer, share
            chosen[candidates] = n
            candidates += 1
    heap = np.arange(candidates)
    for k in range(candidates // 2 - 1, -1, -1):
        _sift(k, candidates, heap, offers, shares)
    missing = units[j]
    while missing:
        best = heap[0]
        here = min(fits[best], missing)
        placed[j, chosen[best]] = here
        take_on(chosen[best], begin, end, asked * here, start, after, free, state)
        missing -= here
        candidates -= 1
        heap[0] = heap[candidates]
        _sift(0, candidates, heap, offers, shares)
    draw(begin, end, draws[j], count, start, after, free, state)
    return begin


@compiled()
def plan_in_order(
    order: IntArray,
    units: IntArray,
    requests: IntArray,
    run_times: IntArray,
    room: IntArray,
    capacity: IntArray,
    totals: IntArray,
    draws: IntArray,
    start: IntArray,
    after: IntArray,
    free: IntArray,
    state: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> bool:
    """Plan each job of `order` at its earliest start beside those before it.

    Writes into `starts`, `[J]`, and `placed`, `[J, N]`, which is 0 for these jobs; answers whether
    all could be planned.
    """
    for j in order:
        starts[j] = plan_job_from(
            0,
            j,
            units,
            requests,
            run_times,
            room,
            capacity,
            totals,
            draws,
            start,
            after,
            free,
            state,
            placed,
        )
        if starts[j] == NEVER:
            return False
    return True
