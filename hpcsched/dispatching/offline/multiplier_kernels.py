"""Compiled: the least cost of jobs that pay Lagrangian multipliers for the resources they use."""

from typing import NamedTuple

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.row_kernels import first_from
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.cost_kernels import StartTimeCosts, cost_at
from hpcsched.system.system import IntArray


class Multipliers(NamedTuple):
    """Lagrangian multipliers of a resource type: the price of one unit for one second, by time.

    Attributes
    ----------
    edges
        Borders of the pieces of time, ascending, `[B + 1]`; before and after them the price is 0.
    rates
        Price from `edges[b]` to `edges[b + 1]`, not negative, `[B]`.
    upto
        Price of one unit from the first edge up to each edge, `[B + 1]`.
    """

    edges: IntArray
    rates: FloatArray
    upto: FloatArray


@compiled()
def _paid_until(time: int, bucket: int, multipliers: Multipliers) -> float:
    """Return the price of one unit from the first edge until `time`, in `bucket`, −1 to B."""
    if bucket < 0:
        return 0.0
    if bucket >= len(multipliers.rates):
        return float(multipliers.upto[-1])
    return float(multipliers.upto[bucket]) + multipliers.rates[bucket] * (
        time - multipliers.edges[bucket]
    )


@compiled()
def _least(
    j: int, demand: int, cheapest: int, costs: StartTimeCosts, multipliers: Multipliers
) -> tuple[float, int]:
    """Return a lower bound of a job's cost plus price, and a start that costs little more.

    From one edge to the next, of its start or its end, the price of the job is linear in the start.
    Its cost is linear too but for a turn at `free`, or, for a ratio, falls until `cheapest`
    and then grows; so the least over such a piece is no less than the sum of the least of each.
    """
    edges, last = multipliers.edges, len(multipliers.edges)
    begin, run_time = costs.submit[j], costs.run_times[j]
    of_begin = first_from(begin + 1, edges, last)
    of_end = first_from(begin + run_time + 1, edges, last)
    paid = demand * (
        _paid_until(begin + run_time, of_end - 1, multipliers)
        - _paid_until(begin, of_begin - 1, multipliers)
    )
    cost = cost_at(j, begin, costs)
    curved = costs.amounts[j] != 0.0
    least, start = cost + paid, begin
    while of_begin < last and not (begin >= cheapest and cost >= least):
        following = edges[of_begin]
        if of_end < last:
            # The price bends where the start passes an edge, and where the end does.
            following = min(following, edges[of_end] - run_time)
        for t in range(len(costs.weights)):
            if begin < costs.free[t, j] < following:
                following = int(costs.free[t, j])
        while of_begin < last and edges[of_begin] <= following:
            of_begin += 1
        while of_end < last and edges[of_end] <= following + run_time:
            of_end += 1
        later_paid = demand * (
            _paid_until(following + run_time, of_end - 1, multipliers)
            - _paid_until(following, of_begin - 1, multipliers)
        )
        later_cost = cost_at(j, following, costs)
        if curved:
            lowest = min(cost, later_cost)
            if begin < cheapest < following:
                lowest = cost_at(j, cheapest, costs)
            found = lowest + min(paid, later_paid)
        else:
            found = later_cost + later_paid
        if found < least:
            least, start = found, following
        begin, cost, paid = following, later_cost, later_paid
    if begin < cheapest:  # nothing is paid from here on
        found = cost_at(j, cheapest, costs)
        if found < least:
            least, start = found, cheapest
    return least, start


@compiled()
def least_with_multipliers(
    demands: IntArray,
    cheapest: IntArray,
    costs: StartTimeCosts,
    multipliers: Multipliers,
    used: FloatArray,
) -> tuple[float, float]:
    """Return the least cost plus price of all jobs, each by itself, and the size of its terms.

    Parameters
    ----------
    demands
        Units that each job holds of the resource type, `[J]`.
    cheapest
        Start of least cost of each job without multipliers, in seconds, `[J]`.
    costs
        The start-time cost functions.
    multipliers
        The multipliers.
    used
        Receives the use of each piece of time, in units × seconds, `[B]`.
    """
    edges, last = multipliers.edges, len(multipliers.edges)
    for b in range(len(used)):
        used[b] = 0.0
    total, size = 0.0, 0.0
    for j in range(len(demands)):
        least, begin = _least(j, demands[j], cheapest[j], costs, multipliers)
        total += least
        size += abs(least)
        end = begin + costs.run_times[j]
        # Use before the first edge and after the last is free, and not counted.
        b = max(first_from(begin + 1, edges, last) - 1, 0)
        while b + 1 < last and edges[b] < end:
            overlap = min(end, edges[b + 1]) - max(begin, edges[b])
            if overlap > 0:
                used[b] += demands[j] * overlap
            b += 1
    return total, size
