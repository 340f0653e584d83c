"""Compiled search over orders, of which each is made into a plan by list scheduling.

A plan is a pool of segments as in `plan_kernels`, or, where all jobs share one resource type of one
node, a row of segments in order of time: `start[k]`, and `free[k, 0]` until `start[k + 1]`.
`state[0]` counts the segments. Times are in steps from now.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.heuristic.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.list_kernels import plan_job
from hpcsched.system.system import IntArray

FEW = 7
"""Of so many jobs all orders are tried: 5,040 at most."""


class Content(NamedTuple):
    """Jobs and nodes of `ModelData`, and whether they are pooled."""

    pooled: bool
    units: IntArray
    requests: IntArray
    run_times: IntArray
    room: IntArray
    capacity: IntArray
    totals: IntArray


class Segments(NamedTuple):
    """What is free from now on."""

    start: IntArray
    after: IntArray
    free: IntArray
    state: IntArray


class Curves(NamedTuple):
    """What each job costs by its start, in steps.

    It is `weights[j] · late + amounts[j] · ((α+1)/(α+2) · (F^(α+2) − Q^(α+2)) − level · (F^(α+1) −
    Q^(α+1)))`, with `late` = max(start, free[j]), Q = waits[j] + start and F = Q + durations[j]. If
    `patience` is not 0, `late` is discounted: patience · (1 − exp(−late / patience)). To the sum is
    added `makespan` · last end.
    """

    weights: FloatArray
    free: FloatArray
    makespan: float
    patience: float
    alpha: float
    level: float
    amounts: FloatArray
    waits: FloatArray
    durations: FloatArray


class Effort(NamedTuple):
    """How long to search, and where.

    `budget`: after looking through so many segments, in making plans, the search ends. `bias`: by
    how much more often moves take a job from the front of the order; 1: from anywhere alike.
    """

    budget: int
    bias: float


@compiled()
def cost_of(j: int, start: int, curves: Curves) -> float:
    """Return what a job costs."""
    cost = 0.0
    if curves.weights[j] != 0.0:
        late = max(float(start), curves.free[j])
        if curves.patience > 0.0:
            late = -curves.patience * np.expm1(-late / curves.patience)
        cost = curves.weights[j] * late
    if curves.amounts[j] != 0.0:
        a = curves.alpha + 1.0
        wait = curves.waits[j] + start
        response = wait + curves.durations[j]
        high = response ** (a + 1.0) - wait ** (a + 1.0)
        low = response**a - wait**a
        cost += curves.amounts[j] * (a / (a + 1.0) * high - curves.level * low)
    return cost


@compiled()
def least_cost(j: int, start: int, curves: Curves) -> float:
    """Return the least that a job costs if it does not start before then.

    What grows with the start is least there. A curve with a level first falls, where waiting raises
    the ratio's denominator by more, and then grows: the turn is found by bisection.
    """
    if curves.amounts[j] == 0.0 or curves.level <= 0.0:
        return cost_of(j, start, curves)
    low, high = start, start + 1
    while high - start < 1 << 40 and cost_of(j, high + 1, curves) < cost_of(j, high, curves):
        high = start + 2 * (high - start)
    while low < high:
        middle = (low + high) // 2
        if cost_of(j, middle + 1, curves) < cost_of(j, middle, curves):
            low = middle + 1
        else:
            high = middle
    return cost_of(j, low, curves)


@compiled()
def _plan_pooled(demand: int, run_time: int, segments: Segments) -> int:
    """Give a job its earliest start on a row of segments, and return it."""
    start, free, state = segments.start, segments.free, segments.state
    count = state[0]
    first = 0
    while True:
        while free[first, 0] < demand:
            first += 1
        end = start[first] + run_time
        last = first + 1
        while last < count and start[last] < end and free[last, 0] >= demand:
            last += 1
        if last == count or start[last] >= end:
            break
        first = last + 1
    if last == count or start[last] != end:
        for k in range(count, last, -1):
            start[k] = start[k - 1]
            free[k, 0] = free[k - 1, 0]
        start[last] = end
        free[last, 0] = free[last - 1, 0]
        state[0] = count + 1
    for k in range(first, last):
        free[k, 0] -= demand
    return start[first]


@compiled()
def _plan(j: int, content: Content, segments: Segments, placed: IntArray) -> int:
    """Give a job its earliest start beside those planned before it, and return it."""
    if content.pooled:
        return _plan_pooled(
            content.units[j] * content.requests[j, 0], content.run_times[j], segments
        )
    return plan_job(
        j,
        content.units,
        content.requests,
        content.run_times,
        content.room,
        content.capacity,
        content.totals,
        segments.start,
        segments.after,
        segments.free,
        segments.state,
        placed,
    )


class Kept(NamedTuple):
    """What a plan has come to before each position of an order, to go on from there.

    `start` and `after`, `[J, S]`, and `free`, `[J, S, R]`, are segments, of which `counts`, `[J]`,
    are in use; `paid` is what jobs so far cost, `ended` the last end.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    counts: IntArray
    paid: FloatArray
    ended: IntArray


@compiled()
def _keep(given: Segments, kept: Kept, k: int) -> None:
    count = given.state[0]
    kept.counts[k] = count
    for s in range(count):
        kept.start[k, s] = given.start[s]
        kept.after[k, s] = given.after[s]
        for r in range(given.free.shape[1]):
            kept.free[k, s, r] = given.free[s, r]


@compiled()
def _restore(kept: Kept, k: int, into: Segments) -> None:
    count = kept.counts[k]
    into.state[0] = count
    for s in range(count):
        into.start[s] = kept.start[k, s]
        into.after[s] = kept.after[k, s]
        for r in range(into.free.shape[1]):
            into.free[s, r] = kept.free[k, s, r]


@compiled()
def _write(first: int, given: IntArray, into: IntArray) -> None:
    for k in range(first, len(given)):
        into[k] = given[k]


@compiled()
def _uniform(state: IntArray) -> float:
    """Return a number between 0 and 1, by xorshift64*."""
    x = np.uint64(state[0])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = np.int64(x)
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@compiled()
def _plan_and_keep(
    first: int,
    order: IntArray,
    content: Content,
    curves: Curves,
    kept: Kept,
    scratch: Segments,
    placed: IntArray,
    starts: IntArray,
) -> float:
    """Plan an order anew from a position on, keep what goes before each, and return the cost."""
    _restore(kept, first, scratch)
    cost, end = kept.paid[first], kept.ended[first]
    for k in range(first, len(order)):
        _keep(scratch, kept, k)
        kept.paid[k], kept.ended[k] = cost, end
        j = order[k]
        starts[j] = _plan(j, content, scratch, placed)
        end = max(end, starts[j] + content.run_times[j])
        cost += cost_of(j, starts[j], curves)
    return cost + curves.makespan * end


@compiled()
def _move(order: IntArray, trial: IntArray, bias: float, random: IntArray) -> tuple[int, int]:
    """Swap two jobs or move one; return the first and the last position that changed."""
    count = len(order)
    a = int(count * _uniform(random) ** bias)
    b = int((count - 1) * _uniform(random))
    if b >= a:
        b += 1
    low, high = min(a, b), max(a, b)
    for k in range(low, count):
        trial[k] = order[k]
    if _uniform(random) < 0.5:
        trial[a] = order[b]
    else:
        step = 1 if a < b else -1
        for k in range(a, b, step):
            trial[k] = order[k + step]
    trial[b] = order[a]
    return low, high


@compiled()
def _try(
    low: int,
    high: int,
    trial: IntArray,
    limit: float,
    content: Content,
    curves: Curves,
    least: FloatArray,
    kept: Kept,
    scratch: Segments,
    placed: IntArray,
    starts: IntArray,
) -> tuple[bool, int]:
    """Plan an order that was changed from `low` to `high`.

    Return whether it costs no more than `limit` and changes a start, and how many jobs were planned
    to know. What the rest costs at least is counted in, so that few are planned to the end.
    """
    _restore(kept, low, scratch)
    cost, end = kept.paid[low], kept.ended[low]
    rest = 0.0
    for k in range(low, len(trial)):
        rest += least[trial[k]]
    same = True
    for k in range(low, len(trial)):
        j = trial[k]
        start = _plan(j, content, scratch, placed)
        same = same and start == starts[j]
        end = max(end, start + content.run_times[j])
        cost += cost_of(j, start, curves)
        rest -= least[j]
        if cost + rest + curves.makespan * end > limit or (k == high and same):
            return False, k + 1 - low
    return True, len(trial) - low


@compiled()
def _branch(
    best: float,
    slack: float,
    budget: int,
    content: Content,
    curves: Curves,
    least: FloatArray,
    kept: Kept,
    scratch: Segments,
    placed: IntArray,
    best_order: IntArray,
) -> tuple[float, int]:
    """Try all orders of a few jobs, but those that begin in a way that costs too much already.

    Returns the least cost, and what is left of the budget: if there is some, it is the least of
    all. Position `k` of `kept` is what goes before it in the order that is being tried.
    """
    count = len(least)
    order, following = np.empty(count, np.int64), np.zeros(count, np.int64)
    used = np.zeros(count, np.bool_)
    rest = np.empty(count, np.float64)
    rest[0] = least.sum()
    k = 0
    while k >= 0 and budget > 0:
        j = following[k]
        while j < count and used[j]:
            j += 1
        if j == count:
            k -= 1
            if k >= 0:
                used[order[k]] = False
            continue
        following[k] = j + 1
        _restore(kept, k, scratch)
        start = _plan(j, content, scratch, placed)
        budget -= scratch.state[0]
        cost = kept.paid[k] + cost_of(j, start, curves)
        end = max(kept.ended[k], start + content.run_times[j])
        left = rest[k] - least[j]
        if cost + left + curves.makespan * end >= best - slack:
            continue
        order[k] = j
        if k + 1 == count:
            best = cost + curves.makespan * end
            _write(0, order, best_order)
            continue
        used[j] = True
        k += 1
        _keep(scratch, kept, k)
        kept.paid[k], kept.ended[k], rest[k], following[k] = cost, end, left, 0
    return best, budget


@compiled()
def search(
    orders: IntArray,
    content: Content,
    segments: Segments,
    curves: Curves,
    effort: Effort,
    random: IntArray,
    best_order: IntArray,
) -> tuple[float, bool]:
    """Write the best order found into `best_order`, `[J]`.

    The search begins with the best of `orders`, `[K, J]`. Up to `FEW` jobs are searched through
    whole. An order of more is changed again and again, and what does not cost more is kept. Returns
    what the plan costs, and whether no order can cost less: all were tried, or the jobs cost no
    less each by itself.
    """
    count = len(best_order)
    size, types = segments.free.shape
    scratch = Segments(
        np.empty_like(segments.start),
        np.empty_like(segments.after),
        np.empty_like(segments.free),
        np.empty_like(segments.state),
    )
    kept = Kept(
        np.empty((count, size), np.int64),
        np.empty((count, size), np.int64),
        np.empty((count, size, types), np.int64),
        np.empty(count, np.int64),
        np.zeros(count, np.float64),
        np.zeros(count, np.int64),
    )
    _keep(segments, kept, 0)
    placed = np.zeros((count, len(content.capacity)), np.int64)
    starts = np.empty(count, np.int64)
    least = np.empty(count, np.float64)
    last_end = 0
    for j in range(count):
        _restore(kept, 0, scratch)
        start = _plan(j, content, scratch, placed)
        least[j] = least_cost(j, start, curves)
        last_end = max(last_end, start + content.run_times[j])
    bound = least.sum() + curves.makespan * last_end

    best = np.inf
    for k in range(len(orders)):
        cost = _plan_and_keep(0, orders[k], content, curves, kept, scratch, placed, starts)
        if cost < best:
            best = cost
            _write(0, orders[k], best_order)
    slack = 1e-12 * abs(best)
    if count < 2 or best <= bound + slack:
        return best, True
    if count <= FEW:
        best, left = _branch(
            best,
            slack,
            effort.budget,
            content,
            curves,
            least,
            kept,
            scratch,
            placed,
            best_order,
        )
        return best, left > 0
    order, trial = best_order.copy(), best_order.copy()
    now = _plan_and_keep(0, order, content, curves, kept, scratch, placed, starts)
    left = effort.budget
    while left > 0:
        low, high = _move(order, trial, effort.bias, random)
        good, planned = _try(
            low, high, trial, now + slack, content, curves, least, kept, scratch, placed, starts
        )
        left -= planned * scratch.state[0]
        if not good:
            continue
        _write(low, trial, order)
        now = _plan_and_keep(low, order, content, curves, kept, scratch, placed, starts)
        left -= (count - low) * scratch.state[0]
        if now < best - slack:
            best = now
            _write(0, order, best_order)
            if best <= bound + slack:
                return best, True
    return best, False
