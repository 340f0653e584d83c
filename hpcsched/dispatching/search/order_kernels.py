"""Compiled search over orders; list scheduling makes each order into a plan."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.random_kernels import change, draw_change
from hpcsched.dispatching.core.state import BoolArray
from hpcsched.dispatching.planning.cost_kernels import StartTimeCosts, cheapest_start, cost_at
from hpcsched.dispatching.planning.list_kernels import (
    OrderTables,
    earliest_start,
    go_on,
    order_tables,
    plan_in_order,
    plan_job,
)
from hpcsched.dispatching.planning.segment_kernels import Content, Segments, keep, restore
from hpcsched.system.system import IntArray

FEW = 7
"""Of so many jobs all orders are tried: 5,040 at most."""

SIDEWAYS = 300
"""After so many changes that cost the same, only one that costs less is gone on from."""


class Effort(NamedTuple):
    """Budget and moves of a search.

    Attributes
    ----------
    budget
        Number of segments looked through, in making plans, at which the search ends.
    front_bias
        How much more often moves take a job from the front of the order; 1:
        from anywhere alike.
    """

    budget: int
    front_bias: float


class FoundPlan(NamedTuple):
    """Arrays that receive the plan found.

    Attributes
    ----------
    order
        Numbers of the jobs in the order of the plan, `[J]`.
    starts
        Start of each job, `[J]`.
    placed
        Units of each job on each node, `[J, N]`.
    """

    order: IntArray
    starts: IntArray
    placed: IntArray


@compiled()
def _write(first: int, given: IntArray, into: IntArray) -> None:
    for k in range(first, len(given)):
        into[k] = given[k]


@compiled()
def _is_like(j: int, i: int, content: Content, costs: StartTimeCosts) -> bool:
    """Say whether two jobs are alike: neither plans nor costs tell them apart."""
    if content.units[j] != content.units[i] or content.run_times[j] != content.run_times[i]:
        return False
    if costs.amounts[j] != costs.amounts[i]:
        return False
    # Only in a ratio of sums does the past wait matter; elsewhere lateness counts from `free`.
    if costs.amounts[j] != 0.0 and costs.submit[j] != costs.submit[i]:
        return False
    for t in range(len(costs.weights)):
        if costs.weights[t, j] != costs.weights[t, i] or costs.free[t, j] != costs.free[t, i]:
            return False
    for r in range(content.requests.shape[1]):
        if content.requests[j, r] != content.requests[i, r]:
            return False
    for p in range(content.draws.shape[1]):
        if content.draws[j, p] != content.draws[i, p]:
            return False
    for n in range(content.room.shape[1]):
        if content.room[j, n] != content.room[i, n]:
            return False
    return True


@compiled()
def _find_kinds(content: Content, costs: StartTimeCosts, kinds: IntArray) -> None:
    """Write the number of the first job that each job is like into `kinds`, `[J]`."""
    for j in range(len(kinds)):
        i = 0
        while i < j and not (kinds[i] == i and _is_like(j, i, content, costs)):
            i += 1
        kinds[j] = i


@compiled()
def _branch(
    best: float,
    slack: float,
    budget: int,
    cheapest: IntArray,
    tables: OrderTables,
    best_order: IntArray,
) -> tuple[float, int]:
    """Try all orders of a few jobs, but those that begin in a way that costs too much already.

    Returns the least cost, and what is left of the budget: if there is some, it is the least of
    all. Jobs cost least if they start at `cheapest`, `[J]`, and more the later they start. Position
    `k` of `kept` is what goes before it in the order that is being tried, and beside it no job can
    start before `starts[k]`, `[J]`. Of jobs that are alike the first comes first.
    """
    content, costs, _, kinds, _, kept, scratch, placed = tables
    count = len(kinds)
    order, following = np.empty(count, np.int64), np.zeros(count, np.int64)
    used, starts = np.zeros(count, np.bool_), np.empty((count, count), np.int64)
    k, enters = 0, True
    while k >= 0 and budget > 0:
        if enters:
            restore(kept, k, content.aggregated, scratch)
            cost, end = kept.paid[k], kept.ended[k]
            for j in range(count):
                if not used[j]:
                    budget -= scratch.state[0]
                    starts[k, j] = earliest_start(j, content, scratch)
                    # A lower bound, as room only shrinks: below here no job starts before
                    # `starts[k, j]`, and none costs less than at `cheapest`.
                    cost += cost_at(j, max(starts[k, j], cheapest[j]), costs)
                    end = max(end, starts[k, j] + content.run_times[j])
            enters = False
            # Pruned: no order that begins in this way is better by more than rounding.
            following[k] = count if cost + costs.makespan * end >= best - slack else 0
        j = following[k]
        while j < count and (used[j] or _waits_for_its_like(j, kinds, used)):
            j += 1
        if j == count:
            k -= 1
            if k >= 0:
                used[order[k]] = False
            continue
        following[k] = j + 1
        order[k] = j
        cost = kept.paid[k] + cost_at(j, starts[k, j], costs)
        end = max(kept.ended[k], starts[k, j] + content.run_times[j])
        # The last job needs no plan: its earliest start is known.
        if k + 1 == count:
            if cost + costs.makespan * end < best - slack:
                best = cost + costs.makespan * end
                _write(0, order, best_order)
            continue
        restore(kept, k, content.aggregated, scratch)
        plan_job(j, content, scratch, placed)
        budget -= scratch.state[0]
        used[j], enters = True, True
        k += 1
        keep(scratch, content.aggregated, kept, k)
        kept.paid[k], kept.ended[k] = cost, end
    return best, budget


@compiled()
def _waits_for_its_like(j: int, kinds: IntArray, used: BoolArray) -> bool:
    """Say whether a job that is like `j`, and comes before it, is not used yet."""
    for i in range(kinds[j], j):
        if kinds[i] == kinds[j] and not used[i]:
            return True
    return False


@compiled()
def _search(
    orders: IntArray,
    content: Content,
    segments: Segments,
    costs: StartTimeCosts,
    effort: Effort,
    random: IntArray,
    best_order: IntArray,
) -> tuple[float, bool]:
    """Write the best order found into `best_order`; see `search`."""
    count = len(best_order)
    kinds, least = np.empty(count, np.int64), np.empty(count, np.float64)
    _find_kinds(content, costs, kinds)
    cheapest, last_end = np.empty(count, np.int64), 0
    for j in range(count):
        start = earliest_start(j, content, segments)
        cheapest[j] = cheapest_start(j, start, costs)
        least[j] = cost_at(j, cheapest[j], costs)
        last_end = max(last_end, start + content.run_times[j])
    # No order costs less: each job starts as if no other waited.
    bound = least.sum() + costs.makespan * last_end
    tables = order_tables(content, costs, least, kinds, 0, segments)
    segments_used = tables.scratch.state

    starts, best = np.empty(count, np.int64), np.inf
    for k in range(len(orders)):
        cost, _ = go_on(0, -1, orders[k], np.inf, True, tables, starts, starts)
        if cost < best:
            best = cost
            _write(0, orders[k], best_order)
    # Less than this is rounding: sums of equal costs differ by the order of their terms.
    slack = 1e-12 * abs(best)
    if count < 2 or best <= bound + slack:
        return best, True
    if count <= FEW:
        best, left = _branch(best, slack, effort.budget, cheapest, tables, best_order)
        return best, left > 0
    order, trial = best_order.copy(), best_order.copy()
    trial_starts = np.empty(count, np.int64)
    now, _ = go_on(0, -1, order, np.inf, True, tables, starts, starts)
    # All swaps of two places, and all moves of a job to another place that are no swap of
    # neighbours.
    changes = (count - 1) * (3 * count - 4) // 2
    # By change: for which of the orders that were gone on from it was tried last.
    tried = np.zeros((2, count, count), np.int64)
    turn, untried, sideways = 1, changes, 0
    left = effort.budget
    while left > 0 and untried > 0:
        # Also for a change that is drawn again, so that the loop ends.
        left -= 1
        a, b, swaps = draw_change(count, effort.front_bias, random)
        if tried[swaps, a, b] == turn:
            continue
        tried[swaps, a, b] = turn
        untried -= 1
        low, high = change(a, b, swaps, order, trial)
        limit = now + slack if sideways < SIDEWAYS else now - slack
        cost, planned = go_on(low, high, trial, limit, False, tables, starts, trial_starts)
        left -= planned * segments_used[0]
        if cost == np.inf:
            continue
        turn, untried, sideways = turn + 1, changes, sideways + 1
        _write(low, trial, order)
        # Planned once more: a trial keeps no states, as it is given up as soon as it costs too
        # much.
        now, planned = go_on(low, -1, order, np.inf, True, tables, starts, starts)
        left -= planned * segments_used[0]
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
    costs: StartTimeCosts,
    effort: Effort,
    random: IntArray,
    best: FoundPlan,
) -> tuple[float, bool]:
    """Write the best order found, and its plan, into `best`.

    The search begins with the best of `orders`, `[K, J]`. Up to `FEW` jobs are searched through
    whole. An order of more is changed again and again, and what does not cost more is gone on from,
    until the budget is used or every change of that order was tried. Returns what the plan costs,
    and whether no order can cost less: all were tried, or the jobs cost no less each by itself.

    The segments are written to.
    """
    found = _search(orders, content, segments, costs, effort, random, best.order)
    plan_in_order(best.order, content, segments, best.starts, best.placed)
    return found
