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
from hpcsched.system.system import IntArray

_SEGMENTS = "int64[::1], int64[::1], int64[:, ::1], int64[::1]"
_DATA = "int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1]"


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
    by_share = np.argsort(shares[:candidates], kind="mergesort")
    ranked = by_share[np.argsort(offers[:candidates][by_share], kind="mergesort")]
    missing = units[j]
    for k in ranked:
        here = min(fits[k], missing)
        placed[j, chosen[k]] = here
        take_on(chosen[k], begin, end, asked * here, start, after, free, state)
        missing -= here
        if missing == 0:
            break
    return begin


@compiled()
def plan_job(
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
    """Give a job its earliest start from now on, as `plan_job_from` does."""
    return plan_job_from(
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
        starts[j] = plan_job(
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
