"""Compiled large neighbourhood search for a whole trace, a few jobs at a time.

All jobs but a few that start near each other keep their starts and nodes. The few are planned anew,
in many orders, beside the others and not before their submissions. What they cost together is known
exactly, so a change is kept just where it makes the whole plan better.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.random_kernels import below, change, draw_change, uniform
from hpcsched.dispatching.core.row_kernels import first_from
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.cost_kernels import StartTimeCosts, cost_at
from hpcsched.dispatching.planning.list_kernels import OrderTables, go_on, order_tables
from hpcsched.dispatching.planning.segment_kernels import (
    Content,
    Segments,
    open_segments,
    take_between,
)
from hpcsched.system.system import IntArray

TRIES = 3
"""Number of orders tried, for each job of a neighbourhood."""


class Pass(NamedTuple):
    """One pass over jobs: each is planned anew, together with its neighbourhood.

    Attributes
    ----------
    seeds
        Jobs to look around.
    width
        Number of jobs that are planned anew together.
    budget
        Number of segments that may be looked through.
    random
        State of the random numbers, `[1]`.
    """

    seeds: IntArray
    width: int
    budget: int
    random: IntArray


@compiled()
def _choose(at: int, begun: int, width: int, count: int, random: IntArray, chosen: IntArray) -> int:
    """Write up to `width` places in the order of starts into `chosen`, ascending; return how many.

    They are around place `at`, of the jobs from place `begun` on, which start while the job at `at`
    waits; half of the time next to each other, else strewn.
    """
    low = max(0, min(begun, at) - width // 4)
    high = min(count, at + width // 2 + 1)
    widest = width
    if uniform(random) < 0.5:
        widest = 6 * width
    if high - low > widest:
        low += below(high - low - widest + 1, random)
        high = low + widest
    found, left = 0, high - low
    missing = min(width, left)
    for k in range(low, high):
        # Selection sampling: each subset of the size is equally likely, and comes out in order.
        if uniform(random) * left < missing:
            chosen[found] = k
            found += 1
            missing -= 1
        left -= 1
    return found


@compiled()
def _of_jobs(jobs: IntArray, begin: int, content: Content) -> Content:
    """Return a few jobs, numbered anew, to be planned from `begin` on."""
    count = len(jobs)
    nodes, types = content.capacity.shape
    few = Content(
        content.aggregated,
        np.empty(count, np.int64),
        np.empty((count, types), np.int64),
        np.empty(count, np.int64),
        np.empty((count, nodes), np.int64),
        content.capacity,
        content.totals,
        np.empty((count, content.draws.shape[1]), np.int64),
        np.empty(count, np.int64),
    )
    for i in range(count):
        j = jobs[i]
        for p in range(content.draws.shape[1]):
            few.draws[i, p] = content.draws[j, p]
        few.units[i] = content.units[j]
        few.run_times[i] = content.run_times[j]
        # Nothing before `begin` is known to be free.
        few.releases[i] = max(content.releases[j], begin)
        for r in range(types):
            few.requests[i, r] = content.requests[j, r]
        for n in range(nodes):
            few.room[i, n] = content.room[j, n]
    return few


@compiled()
def _costs_of_jobs(jobs: IntArray, costs: StartTimeCosts) -> StartTimeCosts:
    """Return the costs of a few jobs, numbered anew."""
    count, terms = len(jobs), len(costs.weights)
    few = StartTimeCosts(
        np.empty((terms, count), np.float64),
        np.empty((terms, count), np.float64),
        costs.makespan,
        costs.discount_time_constant,
        costs.alpha,
        costs.dinkelbach_parameter,
        np.empty(count, np.float64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )
    for i in range(count):
        j = jobs[i]
        for t in range(terms):
            few.weights[t, i] = costs.weights[t, j]
            few.free[t, i] = costs.free[t, j]
        few.amounts[i] = costs.amounts[j]
        few.submit[i] = costs.submit[j]
        few.run_times[i] = costs.run_times[j]
    return few


@compiled()
def _room_beside(
    fixed: IntArray,
    begin: int,
    end: int,
    spare: int,
    content: Content,
    starts: IntArray,
    placed: IntArray,
) -> Segments:
    """Return the room beside the fixed jobs from `begin` to `end`; nothing is free after that."""
    nodes = len(content.capacity)
    if not content.aggregated:
        units = 0
        for j in fixed:
            for n in range(nodes):
                if placed[j, n]:
                    units += 1
        segments = open_segments(begin, content.capacity, 3 * nodes + 2 * units + spare)
        for j in fixed:
            # Only its part within the window: segments begin and end with it.
            first = max(starts[j], begin)
            last = min(starts[j] + content.run_times[j], end)
            for n in range(nodes):
                if placed[j, n]:
                    take_between(n, first, last, content.requests[j] * placed[j, n], segments)
        for n in range(nodes):
            # Nothing can be free for longer than for ever, so no end of this is looked for.
            take_between(n, end, NEVER, content.capacity[n] + 1, segments)
        return segments
    segments = open_segments(begin, content.capacity, 2 * len(fixed) + 2 + spare)
    times = np.empty(2 * len(fixed), np.int64)
    changes = np.empty(2 * len(fixed), np.int64)
    for k in range(len(fixed)):
        j = fixed[k]
        demand = content.units[j] * content.requests[j, 0]
        times[2 * k] = max(starts[j], begin)
        times[2 * k + 1] = min(starts[j] + content.run_times[j], end)
        changes[2 * k], changes[2 * k + 1] = -demand, demand
    last = 0
    for k in np.argsort(times):
        if times[k] != segments.start[last]:
            last += 1
            segments.start[last] = times[k]
            segments.free[last, 0] = segments.free[last - 1, 0]
        segments.free[last, 0] += changes[k]
    if segments.start[last] != end:
        last += 1
        segments.start[last] = end
    # Less than nothing, as on nodes above: every job must end within the window.
    segments.free[last, 0] = -1
    segments.state[0] = last + 1
    return segments


@compiled()
def _search(
    tries: int,
    before: float,
    tables: OrderTables,
    random: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> tuple[float, int]:
    """Plan a few jobs in many orders; return the least cost and the segments looked through.

    The plan that costs least is written into `starts`, `[K]`, and `placed`, `[K, N]`, if it costs
    less than `before`.
    """
    count = len(starts)
    trial_starts, segments_used = np.empty_like(starts), tables.scratch.state
    order, trial = np.arange(count), np.arange(count)
    # As in `order_kernels`: less than this is rounding.
    slack = 1e-12 * abs(before)
    best, work = before, 0
    now = np.inf
    for tried in range(tries + 1):
        low = 0
        if tried:
            a, b, swaps = draw_change(count, 1.0, random)
            low, _ = change(a, b, swaps, order, trial)
        cost, planned = go_on(low, -1, trial, now + slack, False, tables, starts, trial_starts)
        work += planned * segments_used[0]
        if cost == np.inf:
            if tried == 0:
                break
            continue
        now = cost
        for k in range(low, count):
            order[k] = trial[k]
        # Starts of positions before `low` are those of the order before: they are planned again.
        first = 0 if cost < best - slack else low
        again, planned = go_on(first, -1, order, np.inf, True, tables, starts, trial_starts)
        work += planned * segments_used[0]
        if again < best - slack:
            best = again
            for i in range(count):
                starts[i] = trial_starts[i]
                for n in range(placed.shape[1]):
                    placed[i, n] = tables.placed[i, n]
    return best, work


@compiled()
def search_neighbourhoods(
    one_pass: Pass,
    content: Content,
    costs: StartTimeCosts,
    least: FloatArray,
    order: IntArray,
    starts: IntArray,
    placed: IntArray,
) -> int:
    """Look for a better plan in the neighbourhood of each seed; return the rest of the budget.

    Parameters
    ----------
    one_pass
        Seeds, width of the neighbourhoods, and budget.
    content, costs
        Jobs and nodes, and the start-time cost functions.
    least
        Least cost of each job, `[J]`.
    order
        The jobs by start, `[J]`; changed.
    starts, placed
        The plan, `[J]` and `[J, N]`; changed.
    """
    seeds, width, budget, random = one_pass
    count = len(order)
    longest = 0
    for j in range(count):
        # Jobs that started longer ago than this have ended.
        longest = max(longest, content.run_times[j])
    sorted_starts, place = np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(count):
        sorted_starts[k] = starts[order[k]]
        place[order[k]] = k
    chosen, free = np.empty(width, np.int64), np.zeros(count, np.bool_)
    for seed in seeds:
        if budget <= 0:
            break
        # A job at its least gains nothing by moving, unless the last end counts.
        if cost_at(seed, starts[seed], costs) - least[seed] <= 1e-9 * abs(least[seed]) and (
            costs.makespan == 0.0
        ):
            continue
        at = place[seed]
        begun = first_from(costs.submit[seed], sorted_starts, count)
        found = _choose(at, begun, width, count, random, chosen)
        if found < 2:
            continue
        jobs = np.empty(found, np.int64)
        before, end, units = 0.0, 0, 0
        for k in range(found):
            jobs[k] = order[chosen[k]]
            free[jobs[k]] = True
            before += cost_at(jobs[k], starts[jobs[k]], costs)
            end = max(end, starts[jobs[k]] + content.run_times[jobs[k]])
            units += min(content.units[jobs[k]], len(content.capacity))
        first = sorted_starts[chosen[0]]
        begin = max(0, chosen[0] - width)
        begin = min(first, max(costs.submit[seed], sorted_starts[begin]))
        # A little more than the present plan takes, as one job may end later for the others' good.
        end += (end - begin) // 4 + 1
        others_end = 0
        if costs.makespan > 0.0:
            for j in range(count):
                if not free[j]:
                    others_end = max(others_end, starts[j] + content.run_times[j])
            last = others_end
            for k in range(found):
                last = max(last, starts[jobs[k]] + content.run_times[jobs[k]])
            before += costs.makespan * last
        # Only jobs that can overlap the window, found by bisection in the order of starts.
        near = first_from(begin - longest, sorted_starts, count)
        far = first_from(end, sorted_starts, count)
        fixed, beside = np.empty(far - near, np.int64), 0
        for k in range(near, far):
            j = order[k]
            if not free[j] and starts[j] + content.run_times[j] > begin:
                fixed[beside] = j
                beside += 1
        segments = _room_beside(fixed[:beside], begin, end, 2 * units + 2, content, starts, placed)
        new_starts, least_of_few = np.empty(found, np.int64), np.empty(found, np.float64)
        new_placed = np.zeros((found, placed.shape[1]), np.int64)
        for k in range(found):
            least_of_few[k] = least[jobs[k]]
            free[jobs[k]] = False
        tables = order_tables(
            _of_jobs(jobs, begin, content),
            _costs_of_jobs(jobs, costs),
            least_of_few,
            np.arange(found),
            others_end,
            segments,
        )
        best, work = _search(TRIES * width, before, tables, random, new_starts, new_placed)
        budget -= work
        if best >= before:
            continue
        for k in range(found):
            starts[jobs[k]] = new_starts[k]
            for n in range(placed.shape[1]):
                placed[jobs[k], n] = new_placed[k, n]
        # Nearly in order still, so that this takes one look at most of them.
        for k in range(1, count):
            j, i = order[k], k
            while i > 0 and starts[order[i - 1]] > starts[j]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = j
        for k in range(count):
            sorted_starts[k] = starts[order[k]]
            place[order[k]] = k
    return budget
