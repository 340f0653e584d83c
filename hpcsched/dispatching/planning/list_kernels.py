"""Compiled list scheduling over the data of a model: one job, an order, and the rest of an order.

Pools are rows of segments behind those of the nodes, whose first resource type is what is free of
them; it is at least 0. `draws`, `[J, P]`, is what jobs draw.
"""

import numpy as np

from hpcsched.dispatching.core.array_kernels import numbers, table_of_zeros
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.placement_kernels import fill_by_rank
from hpcsched.dispatching.core.plan_kernels import (
    NEVER,
    earliest,
    preference,
    take_on,
    units_during,
)
from hpcsched.dispatching.core.row_kernels import earliest_on_row, reserve_on_row
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.cost_kernels import Costs, cost_at, cost_of_waiting
from hpcsched.dispatching.planning.segment_kernels import Content, Kept, Segments, keep, restore
from hpcsched.system.system import IntArray


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
def draw(begin: int, end: int, draws: IntArray, nodes: int, segments: Segments) -> None:
    """Take what a job draws from each pool, `[P]`, from `begin` to `end`."""
    amount = np.empty(1, np.int64)
    for p in range(len(draws)):
        if draws[p] > 0:
            amount[0] = draws[p]
            take_on(
                nodes + p,
                begin,
                end,
                amount,
                segments.start,
                segments.after,
                segments.free,
                segments.state,
            )


@compiled()
def earliest_start(j: int, content: Content, segments: Segments) -> int:
    """Return the earliest start at which nodes and pools have enough for a job; NEVER if none."""
    start, after, free, state = segments.start, segments.after, segments.free, segments.state
    if content.pooled:
        amount = content.units[j] * content.requests[j, 0]
        begin, _, _ = earliest_on_row(
            content.releases[j], content.run_times[j], amount, state[0], start, segments.row
        )
        return begin
    count, run_time = len(content.capacity), content.run_times[j]
    begin = content.releases[j]
    while True:  # nodes and pools in turn, until they agree
        begin = earliest(
            begin,
            NEVER,
            content.units[j],
            run_time,
            state[0],
            start,
            after,
            free,
            content.requests[j],
            content.room[j],
            False,
            content.capacity,
        )
        if begin == NEVER:
            return NEVER
        later = earliest_in_pools(begin, run_time, content.draws[j], count, start, after, free)
        if later in (begin, NEVER):
            return later
        begin = later


@compiled()
def _place(
    j: int, begin: int, end: int, content: Content, segments: Segments, placed: IntArray
) -> None:
    """Take room for a job from `begin` to `end`, as many units on each node as fit.

    Nodes come by `preference`. Writes how many units go to which node into `placed`, `[N]`.
    """
    start, after, free, state = segments.start, segments.after, segments.free, segments.state
    asked, on_idle, capacity = content.requests[j], content.room[j], content.capacity
    fits, ranks = numbers(len(capacity)), table_of_zeros(2, len(capacity))
    for n in range(len(capacity)):
        placed[n] = 0
        fits[n] = on_idle[n]
        if fits[n] == 0:
            continue
        first = n
        while after[first] != -1 and start[after[first]] <= begin:
            first = after[first]
        s = first
        while fits[n] and s != -1 and start[s] < end:
            fits[n] = min(fits[n], units_during(s, n, free, asked, on_idle, False, capacity))
            s = after[s]
        if fits[n]:
            ranks[0, n], ranks[1, n] = preference(
                n, first, end, start, after, free, asked, capacity, content.totals
            )
    fill_by_rank(content.units[j], fits, ranks, placed)
    for n in range(len(capacity)):
        if placed[n]:
            take_on(n, begin, end, asked * placed[n], start, after, free, state)


@compiled()
def plan_job(j: int, content: Content, segments: Segments, placed: IntArray) -> int:
    """Give a job its earliest start beside those planned; NEVER if there is none.

    Writes how many units go to which node into row `j` of `placed`, `[J, N]`.
    """
    run_time = content.run_times[j]
    if content.pooled:
        state, amount = segments.state, content.units[j] * content.requests[j, 0]
        placed[j, 0] = content.units[j]
        begin, state[0] = reserve_on_row(
            content.releases[j], run_time, amount, state[0], segments.start, segments.row
        )
        return begin
    begin = earliest_start(j, content, segments)
    if begin != NEVER:
        _place(j, begin, begin + run_time, content, segments, placed[j])
        draw(begin, begin + run_time, content.draws[j], len(content.capacity), segments)
    return begin


@compiled()
def plan_in_order(
    order: IntArray, content: Content, segments: Segments, starts: IntArray, placed: IntArray
) -> bool:
    """Plan each job of `order` at its earliest start beside those before it.

    Writes into `starts`, `[J]`, and `placed`, `[J, N]`; answers whether all could be planned.
    """
    for j in order:
        starts[j] = plan_job(j, content, segments, placed)
        if starts[j] == NEVER:
            return False
    return True


@compiled()
def _is_as_before(
    first: int, last: int, order: IntArray, kinds: IntArray, known: IntArray, starts: IntArray
) -> bool:
    """Say whether jobs at some positions start as in `known`, or in the place of others like them.

    Jobs are alike that have the same of `kinds`.
    """
    for k in range(first, last + 1):
        kind, start, more = kinds[order[k]], starts[order[k]], 0
        for i in range(first, last + 1):
            if kinds[order[i]] == kind:
                more += int(starts[order[i]] == start) - int(known[order[i]] == start)
        if more != 0:
            return False
    return True


@compiled()
def go_on(
    first: int,
    last: int,
    order: IntArray,
    limit: float,
    others_end: int,
    content: Content,
    costs: Costs,
    least: FloatArray,
    keeping: bool,
    kept: Kept,
    scratch: Segments,
    kinds: IntArray,
    known: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> tuple[float, int]:
    """Plan an order from position `first` on; return what it costs and how many jobs were planned.

    The cost is infinite where a job cannot be planned, where it must come to more than `limit`, or
    where the jobs up to position `last` start as in `known`, `[J]`, but for jobs of the same of
    `kinds`, `[J]`, so that the plan is as good as before. What the rest costs at least, `least`,
    `[J]`, is counted in, so that few orders are planned to the end. `others_end` is when jobs that
    are not in the order end.

    Starts are written into `starts`, `[J]`. With `keeping`, what goes before each position is kept.
    """
    restore(kept, first, content.pooled, scratch)
    cost, end = kept.paid[first], kept.ended[first]
    rest = 0.0
    for k in range(first, len(order)):
        rest += least[order[k]]
    # Compiled code counts who refers to an array each time that it is taken from a tuple.
    pooled, run_times, releases = content.pooled, content.run_times, content.releases
    units, requests = content.units, content.requests
    begins, row, state = scratch.start, scratch.row, scratch.state
    weights, free, amounts = costs.weights, costs.free, costs.amounts
    for k in range(first, len(order)):
        if keeping:
            keep(scratch, pooled, kept, k)
            kept.paid[k], kept.ended[k] = cost, end
        j = order[k]
        if pooled:  # as in `plan_job`
            amount = units[j] * requests[j, 0]
            start, state[0] = reserve_on_row(
                releases[j], run_times[j], amount, state[0], begins, row
            )
        else:
            start = plan_job(j, content, scratch, placed)
        if start == NEVER:
            return np.inf, k + 1 - first
        starts[j] = start
        end = max(end, start + run_times[j])
        if amounts[j] == 0.0:
            cost += cost_of_waiting(j, start, weights, free, costs.patience)
        else:
            cost += cost_at(j, start, costs)
        rest -= least[j]
        if cost + rest + costs.makespan * max(end, others_end) > limit:
            return np.inf, k + 1 - first
        if k == last and _is_as_before(first, last, order, kinds, known, starts):
            return np.inf, k + 1 - first
    return cost + costs.makespan * max(end, others_end), len(order) - first
