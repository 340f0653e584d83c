"""Compiled list scheduling over the data of a model: one job, an order, and the rest of an order.

Shared resources are rows of segments behind those of the nodes; their first
resource type is the free amount, at least 0. `draws`, `[J, P]`, are the amounts that jobs draw.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.array_kernels import numbers, table_of_zeros
from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.placement_kernels import fill_by_rank
from hpcsched.dispatching.core.plan_kernels import units_during
from hpcsched.dispatching.core.plan_reservation_kernels import earliest, preference
from hpcsched.dispatching.core.row_kernels import earliest_on_row, reserve_on_row
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.cost_kernels import StartTimeCosts, cost_at, cost_of_waiting
from hpcsched.dispatching.planning.segment_kernels import (
    Content,
    Kept,
    Segments,
    keep,
    restore,
    room_for_segments,
    room_to_keep,
    take_between,
)
from hpcsched.system.system import IntArray


@compiled()
def _earliest_in_one(
    begin: int, run_time: int, amount: int, s: int, start: IntArray, after: IntArray, free: IntArray
) -> int:
    """Return the earliest start from `begin` on with enough of a shared resource; NEVER if none.

    `s` is the shared resource's first segment.
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
def earliest_in_shared(
    begin: int,
    run_time: int,
    draws: IntArray,
    nodes: int,
    start: IntArray,
    after: IntArray,
    free: IntArray,
) -> int:
    """Return the earliest start at which all shared resources have enough; NEVER if none.

    Parameters
    ----------
    begin
        First start to consider.
    run_time
        Steps that the job runs.
    draws
        Amount that the job draws from each shared resource, `[P]`.
    nodes
        Number of rows before those of shared resources.
    start, after, free
        The segments, see `Segments`.
    """
    # Round robin over the shared resources until all of them agree on one start.
    agreed, p = 0, 0
    while agreed < len(draws):
        later = begin
        if draws[p] > 0:
            later = _earliest_in_one(begin, run_time, draws[p], nodes + p, start, after, free)
            if later == NEVER:
                return NEVER
        agreed = agreed + 1 if later == begin else 1
        begin = later
        p = (p + 1) % len(draws)
    return begin


@compiled()
def draw(begin: int, end: int, draws: IntArray, nodes: int, segments: Segments) -> None:
    """Take a job's draw from each shared resource, `draws`, `[P]`, from `begin` to `end`."""
    amount = np.empty(1, np.int64)
    for p in range(len(draws)):
        if draws[p] > 0:
            amount[0] = draws[p]
            take_between(nodes + p, begin, end, amount, segments)


@compiled()
def earliest_start(j: int, content: Content, segments: Segments) -> int:
    """Return the earliest start of a job with enough nodes and shared resources; NEVER if none.

    Parameters
    ----------
    j
        The job.
    content
        Jobs and nodes of the model.
    segments
        Free resources over time.
    """
    start, after, free, state = segments.start, segments.after, segments.free, segments.state
    # Equal requests: counting units is enough.
    if content.aggregated:
        amount = content.units[j] * content.requests[j, 0]
        begin, _, _ = earliest_on_row(
            content.releases[j], content.run_times[j], amount, state[0], start, segments.row
        )
        return begin
    count, run_time = len(content.capacity), content.run_times[j]
    begin = content.releases[j]
    while True:  # nodes and shared resources in turn, until they agree
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
        later = earliest_in_shared(begin, run_time, content.draws[j], count, start, after, free)
        if later in (begin, NEVER):
            return later
        begin = later


@compiled()
def _place(
    j: int, begin: int, end: int, content: Content, segments: Segments, placed: IntArray
) -> None:
    """Reserve room for a job from `begin` to `end`, as many units on each node as fit.

    Nodes come by `preference`. Writes the units on each node into `placed`, `[N]`.
    """
    start, after, free = segments.start, segments.after, segments.free
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
        # The fewest units of any segment that the job would touch.
        while fits[n] and s != -1 and start[s] < end:
            fits[n] = min(fits[n], units_during(s, n, free, asked, on_idle, False, capacity))
            s = after[s]
        if fits[n]:
            ranks[0, n], ranks[1, n] = preference(
                n, first, end, start, after, free, asked, capacity, content.totals
            )
    fill_by_rank(content.units[j], fits, ranks, placed)
    # After all nodes were ranked: ranks are by what was free before.
    for n in range(len(capacity)):
        if placed[n]:
            take_between(n, begin, end, asked * placed[n], segments)


@compiled()
def plan_job(j: int, content: Content, segments: Segments, placed: IntArray) -> int:
    """Reserve a job's earliest start beside the planned jobs; NEVER if there is none.

    Writes the units on each node into row `j` of `placed`, `[J, N]`.
    """
    run_time = content.run_times[j]
    if content.aggregated:
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

    Parameters
    ----------
    order
        Numbers of the jobs.
    content
        Jobs and nodes of the model.
    segments
        Free resources over time; changed.
    starts
        Receives the start of each job, `[J]`.
    placed
        Receives the units of each job on each node, `[J, N]`.

    Returns
    -------
    bool
        Whether all jobs could be planned.
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
    """Say whether the jobs at some positions start as in `known`, up to an exchange of equal jobs.

    Jobs are equal that have the same of `kinds`.
    """
    for k in range(first, last + 1):
        kind, start, more = kinds[order[k]], starts[order[k]], 0
        for i in range(first, last + 1):
            if kinds[order[i]] == kind:
                more += int(starts[order[i]] == start) - int(known[order[i]] == start)
        if more != 0:
            return False
    return True


class OrderTables(NamedTuple):
    """Tables for planning many orders of the same jobs: the problem, and room to work in.

    Attributes
    ----------
    content, costs
        Jobs and nodes, and the start-time cost functions of the jobs.
    least
        Least cost of each job, `[J]`.
    kinds
        Equal numbers for jobs that are exchangeable, `[J]`.
    others_end
        Last end of the jobs that are not in the orders.
    kept
        The states before each position, to start from and to keep in.
    scratch
        Segments to work in.
    placed
        Units of each job on each node, `[J, N]`, in the plan made last.
    """

    content: Content
    costs: StartTimeCosts
    least: FloatArray
    kinds: IntArray
    others_end: int
    kept: Kept
    scratch: Segments
    placed: IntArray


@compiled()
def order_tables(
    content: Content,
    costs: StartTimeCosts,
    least: FloatArray,
    kinds: IntArray,
    others_end: int,
    segments: Segments,
) -> OrderTables:
    """Return the tables for planning orders from `segments` on, which stay unchanged.

    The other parameters are fields of `OrderTables`.
    """
    count = len(least)
    kept = room_to_keep(count, segments)
    keep(segments, content.aggregated, kept, 0)
    scratch = room_for_segments(*segments.free.shape)
    # Zeros: where units are counted, nothing is ever written here.
    placed = np.zeros((count, content.room.shape[1]), np.int64)
    return OrderTables(content, costs, least, kinds, others_end, kept, scratch, placed)


@compiled()
def go_on(
    first: int,
    last: int,
    order: IntArray,
    limit: float,
    keeping: bool,
    tables: OrderTables,
    known: IntArray,
    starts: IntArray,
) -> tuple[float, int]:
    """Plan an order from position `first` on; return its cost and the number of jobs planned.

    The cost is infinite where a job cannot be planned, where it must come to more than `limit`, or
    where the jobs up to position `last` start as in `known`, `[J]`, but for jobs of the same of
    `kinds`, `[J]`, so that the plan is as good as before. The least cost of the remaining jobs is
    counted in, so that few orders are planned to the end.

    Parameters
    ----------
    first, last
        First position to plan, and last position to compare with `known`; −1: no comparison.
    order
        Numbers of the jobs.
    limit
        Cost above which the order is given up.
    keeping
        Whether the state before each position is kept.
    tables
        Jobs, nodes and costs; its `kept`, `scratch` and `placed` are changed.
    known
        Starts of the plan so far, `[J]`.
    starts
        Receives the starts, `[J]`.
    """
    # Field by field: what is unpacked from a tuple is counted as referred to once more.
    content, costs, least = tables.content, tables.costs, tables.least
    kept, scratch, others_end = tables.kept, tables.scratch, tables.others_end
    restore(kept, first, content.aggregated, scratch)
    cost, end = kept.paid[first], kept.ended[first]
    rest = 0.0
    for k in range(first, len(order)):
        rest += least[order[k]]
    # Compiled code counts who refers to an array each time that it is taken from a tuple.
    aggregated, run_times, releases = content.aggregated, content.run_times, content.releases
    units, requests = content.units, content.requests
    begins, row, state = scratch.start, scratch.row, scratch.state
    weights, free, amounts = costs.weights, costs.free, costs.amounts
    for k in range(first, len(order)):
        if keeping:
            keep(scratch, aggregated, kept, k)
            kept.paid[k], kept.ended[k] = cost, end
        j = order[k]
        if aggregated:  # as in `plan_job`
            amount = units[j] * requests[j, 0]
            start, state[0] = reserve_on_row(
                releases[j], run_times[j], amount, state[0], begins, row
            )
        else:
            start = plan_job(j, content, scratch, tables.placed)
        if start == NEVER:
            return np.inf, k + 1 - first
        starts[j] = start
        end = max(end, start + run_times[j])
        if amounts[j] == 0.0:
            cost += cost_of_waiting(j, start, weights, free, costs.discount_time_constant)
        else:
            cost += cost_at(j, start, costs)
        # From here the job counts with its real cost, no longer with its least.
        rest -= least[j]
        # A lower bound of the whole order: the cut that makes the search affordable.
        if cost + rest + costs.makespan * max(end, others_end) > limit:
            return np.inf, k + 1 - first
        if k == last and _is_as_before(first, last, order, tables.kinds, known, starts):
            return np.inf, k + 1 - first
    return cost + costs.makespan * max(end, others_end), len(order) - first
