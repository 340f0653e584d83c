"""Compiled list scheduling over the data of a model, on the segments of `plan_kernels`."""

import numpy as np

from hpcsched.dispatching.heuristic.compiled import compiled
from hpcsched.dispatching.heuristic.plan_kernels import (
    NEVER,
    earliest,
    preference,
    take_on,
    units_during,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray

_SEGMENTS = "int64[::1], int64[::1], int64[:, ::1], int64[::1]"
_DATA = "int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1]"


@compiled()
def _is_before(a: int, b: int, offers: FloatArray, shares: FloatArray) -> bool:
    """Say whether candidate `a` offers less than `b`, or as much and is fuller, or came before."""
    if offers[a] != offers[b]:
        return bool(offers[a] < offers[b])
    if shares[a] != shares[b]:
        return bool(shares[a] < shares[b])
    return a < b


@compiled("void(int64, int64, int64[::1], float64[::1], float64[::1])")
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
def plan_job_from(
    release: int,
    j: int,
    units: IntArray,
    requests: IntArray,
    run_times: IntArray,
    room: IntArray,
    capacity: IntArray,
    totals: IntArray,
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
    begin = earliest(
        release,
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
    return begin


@compiled(f"boolean(int64[::1], {_DATA}, {_SEGMENTS}, int64[::1], int64[:, ::1])")
def plan_in_order(
    order: IntArray,
    units: IntArray,
    requests: IntArray,
    run_times: IntArray,
    room: IntArray,
    capacity: IntArray,
    totals: IntArray,
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
            start,
            after,
            free,
            state,
            placed,
        )
        if starts[j] == NEVER:
            return False
    return True
