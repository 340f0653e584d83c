"""Compiled search over orders, of which each is made into a plan by list scheduling."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.random_kernels import change, draw_change
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.cost_kernels import Costs, cheapest_start, cost_at
from hpcsched.dispatching.planning.list_kernels import go_on, plan_in_order, plan_job
from hpcsched.dispatching.planning.segment_kernels import (
    Content,
    Kept,
    Segments,
    keep,
    restore,
    room_for_segments,
    room_to_keep,
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
def _branch(
    best: float,
    slack: float,
    budget: int,
    content: Content,
    costs: Costs,
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
        restore(kept, k, content.pooled, scratch)
        start = plan_job(j, content, scratch, placed)
        budget -= scratch.state[0]
        cost = kept.paid[k] + cost_at(j, start, costs)
        end = max(kept.ended[k], start + content.run_times[j])
        left = rest[k] - least[j]
        if cost + left + costs.makespan * end >= best - slack:
            continue
        order[k] = j
        if k + 1 == count:
            best = cost + costs.makespan * end
            _write(0, order, best_order)
            continue
        used[j] = True
        k += 1
        keep(scratch, content.pooled, kept, k)
        kept.paid[k], kept.ended[k], rest[k], following[k] = cost, end, left, 0
    return best, budget


@compiled()
def _search(
    orders: IntArray,
    content: Content,
    segments: Segments,
    costs: Costs,
    effort: Effort,
    random: IntArray,
    best_order: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> tuple[float, bool]:
    """Write the best order found into `best_order`; see `search`."""
    count = len(best_order)
    scratch, kept = room_for_segments(*segments.free.shape), room_to_keep(count, segments)
    keep(segments, content.pooled, kept, 0)
    least = np.empty(count, np.float64)
    last_end = 0
    for j in range(count):
        restore(kept, 0, content.pooled, scratch)
        start = plan_job(j, content, scratch, placed)
        least[j] = cost_at(j, cheapest_start(j, start, costs), costs)
        last_end = max(last_end, start + content.run_times[j])
    bound = least.sum() + costs.makespan * last_end

    best = np.inf
    for k in range(len(orders)):
        cost, _ = go_on(0, -1, orders[k], np.inf, 0, content, costs, least, True, kept, scratch,
                        starts, starts, placed)  # fmt: skip
        if cost < best:
            best = cost
            _write(0, orders[k], best_order)
    slack = 1e-12 * abs(best)
    if count < 2 or best <= bound + slack:
        return best, True
    if count <= FEW:
        best, left = _branch(
            best, slack, effort.budget, content, costs, least, kept, scratch, placed, best_order
        )
        return best, left > 0
    order, trial = best_order.copy(), best_order.copy()
    trial_starts = np.empty(count, np.int64)
    now, _ = go_on(0, -1, order, np.inf, 0, content, costs, least, True, kept, scratch,
                   starts, starts, placed)  # fmt: skip
    changes = (count - 1) * (3 * count - 4) // 2
    # By change: for which of the orders that were gone on from it was tried last.
    tried = np.zeros((2, count, count), np.int64)
    turn, untried, sideways = 1, changes, 0
    left = effort.budget
    while left > 0 and untried > 0:
        left -= 1
        a, b, swaps = draw_change(count, effort.bias, random)
        if tried[swaps, a, b] == turn:
            continue
        tried[swaps, a, b] = turn
        untried -= 1
        low, high = change(a, b, swaps, order, trial)
        limit = now + slack if sideways < SIDEWAYS else now - slack
        cost, planned = go_on(low, high, trial, limit, 0, content, costs, least, False, kept,
                              scratch, starts, trial_starts, placed)  # fmt: skip
        left -= planned * scratch.state[0]
        if cost == np.inf:
            continue
        turn, untried, sideways = turn + 1, changes, sideways + 1
        _write(low, trial, order)
        now, planned = go_on(low, -1, order, np.inf, 0, content, costs, least, True, kept, scratch,
                             starts, starts, placed)  # fmt: skip
        left -= planned * scratch.state[0]
        if now < best - slack:
            best, sideways = now, 0
            _write(0, order, best_order)
            if best <= bound + slack:
                return best, True
    return best, False


@compiled()
def search(
    orders: IntArray,
    content: Content,
    segments: Segments,
    costs: Costs,
    effort: Effort,
    random: IntArray,
    best_order: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> tuple[float, bool]:
    """Write the best order found into `best_order`, `[J]`, and its plan into the last two.

    The search begins with the best of `orders`, `[K, J]`. Up to `FEW` jobs are searched through
    whole. An order of more is changed again and again, and what does not cost more is gone on from,
    until the budget is used or every change of that order was tried. Returns what the plan costs,
    and whether no order can cost less: all were tried, or the jobs cost no less each by itself.

    `starts` is `[J]`, `placed` `[J, N]`. The segments are written to.
    """
    found = _search(orders, content, segments, costs, effort, random, best_order, starts, placed)
    plan_in_order(best_order, content, segments, starts, placed)
    return found
