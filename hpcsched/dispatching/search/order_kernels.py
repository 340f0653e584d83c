"""Compiled search over orders, of which each is made into a plan by list scheduling."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.search.curve_kernels import Curves, cost_of, least_cost, waiting_cost
from hpcsched.dispatching.search.segment_kernels import (
    Content,
    Kept,
    Segments,
    keep,
    plan,
    plan_pooled,
    restore,
)
from hpcsched.system.system import IntArray

FEW = 7
"""Of so many jobs all orders are tried: 5,040 at most."""

SIDEWAYS = 300
"""After so many changes that cost the same, only one that costs less is gone on from."""


class Effort(NamedTuple):
    """How long to search, and where.

    `budget`: after looking through so many segments, in making plans, the search ends. `bias`: by
    how much more often moves take a job from the front of the order; 1: from anywhere alike.
    """

    budget: int
    bias: float


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
    restore(kept, first, scratch)
    cost, end = kept.paid[first], kept.ended[first]
    for k in range(first, len(order)):
        keep(scratch, kept, k)
        kept.paid[k], kept.ended[k] = cost, end
        j = order[k]
        starts[j] = plan(j, content, scratch, placed)
        end = max(end, starts[j] + content.run_times[j])
        cost += cost_of(j, starts[j], curves)
    return cost + curves.makespan * end


@compiled()
def _draw(count: int, bias: float, random: IntArray) -> tuple[int, int, int]:
    """Draw a change of an order: two positions, and 1 to swap them or 0 to move the job of one.

    A move to the position beside is a swap, and a swap has the lower position first.
    """
    a = int(count * _uniform(random) ** bias)
    b = int((count - 1) * _uniform(random))
    if b >= a:
        b += 1
    if _uniform(random) < 0.5 or abs(a - b) == 1:
        return min(a, b), max(a, b), 1
    return a, b, 0


@compiled()
def _change(a: int, b: int, swaps: int, order: IntArray, trial: IntArray) -> tuple[int, int]:
    """Write an order as it is changed into `trial`; return the first and last position changed."""
    low, high = min(a, b), max(a, b)
    for k in range(low, len(order)):
        trial[k] = order[k]
    if swaps:
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
    restore(kept, low, scratch)
    cost, end = kept.paid[low], kept.ended[low]
    rest = 0.0
    for k in range(low, len(trial)):
        rest += least[trial[k]]
    same = True
    # Compiled code counts who refers to an array each time that it is taken from a tuple.
    units, requests, run_times = content.units, content.requests, content.run_times
    first, free, state = scratch.start, scratch.free, scratch.state
    weights, idle, amounts = curves.weights, curves.free, curves.amounts
    for k in range(low, len(trial)):
        j = trial[k]
        if content.pooled:
            start = plan_pooled(units[j] * requests[j, 0], run_times[j], first, free, state)
        else:
            start = plan(j, content, scratch, placed)
        same = same and start == starts[j]
        end = max(end, start + run_times[j])
        if amounts[j] == 0.0:
            cost += waiting_cost(j, start, weights, idle, curves.patience)
        else:
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
        restore(kept, k, scratch)
        start = plan(j, content, scratch, placed)
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
        keep(scratch, kept, k)
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
    whole. An order of more is changed again and again, and what does not cost more is gone on from,
    until the budget is used or every change of that order was tried. Returns what the plan costs,
    and whether no order can cost less: all were tried, or the jobs cost no less each by itself.
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
    front = int(
        np.int64(0)
    )  # a plain 0 has a type of its own, for which all would be compiled again
    keep(segments, kept, front)
    placed = np.zeros((count, len(content.capacity)), np.int64)
    starts = np.empty(count, np.int64)
    least = np.empty(count, np.float64)
    last_end = 0
    for j in range(count):
        restore(kept, front, scratch)
        start = plan(j, content, scratch, placed)
        least[j] = least_cost(j, start, curves)
        last_end = max(last_end, start + content.run_times[j])
    bound = least.sum() + curves.makespan * last_end

    best = np.inf
    for k in range(len(orders)):
        cost = _plan_and_keep(front, orders[k], content, curves, kept, scratch, placed, starts)
        if cost < best:
            best = cost
            _write(front, orders[k], best_order)
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
    now = _plan_and_keep(front, order, content, curves, kept, scratch, placed, starts)
    changes = (count - 1) * (3 * count - 4) // 2
    # By change: for which of the orders that were gone on from it was tried last.
    tried = np.zeros((2, count, count), np.int64)
    turn, untried, sideways = 1, changes, 0
    left = effort.budget
    while left > 0 and untried > 0:
        left -= 1
        a, b, swaps = _draw(count, effort.bias, random)
        if tried[swaps, a, b] == turn:
            continue
        tried[swaps, a, b] = turn
        untried -= 1
        low, high = _change(a, b, swaps, order, trial)
        limit = now + slack if sideways < SIDEWAYS else now - slack
        good, planned = _try(
            low, high, trial, limit, content, curves, least, kept, scratch, placed, starts
        )
        left -= planned * scratch.state[0]
        if not good:
            continue
        turn, untried, sideways = turn + 1, changes, sideways + 1
        _write(low, trial, order)
        now = _plan_and_keep(low, order, content, curves, kept, scratch, placed, starts)
        left -= (count - low) * scratch.state[0]
        if now < best - slack:
            best, sideways = now, 0
            _write(front, order, best_order)
            if best <= bound + slack:
                return best, True
    return best, False
