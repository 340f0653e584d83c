"""Start-time cost functions in compiled code: the cost of a job by its start, and its minimum."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray, PlannedCost
from hpcsched.system.system import IntArray

_FARTHEST = 1 << 40
"""Search range, in seconds, for the start at which a job's cost is least."""


class StartTimeCosts(NamedTuple):
    """Start-time cost functions of `J` jobs, in seconds.

    The cost of a job is `Σ weights[t, j] · late[t]` with `late[t]` = max(start − free[t, j], 0),
    and, for a ratio of sums, `amounts[j] · ((α+1)/(α+2) · (F^(α+2) − Q^(α+2)) − λ · (F^(α+1) −
    Q^(α+1)))` with Q = start − submit[j] and F = Q + run_times[j]. If τ = `discount_time_constant`
    is not 0, `late` is discounted: τ · (1 − exp(−late / τ)). To the sum over jobs is added
    `makespan` · last end.

    Attributes
    ----------
    weights, free
        Cost per second of lateness, and the start in seconds after which it counts; both `[T, J]`.
    makespan
        Cost of a second of the last end.
    discount_time_constant
        Discount time constant of lateness, in seconds; 0: no discount.
    alpha
        α of the ratio of sums (PαSF).
    dinkelbach_parameter
        Dinkelbach parameter: the ratio around which the cost is linearised.
    amounts
        Factor of each job in the ratio of sums, `[J]`; 0: the job's cost is its lateness alone.
    submit, run_times
        Submission and run time of each job, in seconds, `[J]`.
    """

    weights: FloatArray
    free: FloatArray
    makespan: float
    discount_time_constant: float
    alpha: float
    dinkelbach_parameter: float
    amounts: FloatArray
    submit: IntArray
    run_times: IntArray


@compiled()
def _power_difference(wait: float, run_time: float, power: float) -> float:
    """Return (wait + run_time)^power − wait^power, precise after long waits too."""
    response = wait + run_time
    # A difference of large powers loses all digits; a product of sums loses none.
    if power == np.floor(power):
        total, wait_power = 1.0, 1.0
        for _ in range(int(power) - 1):
            wait_power *= wait
            total = total * response + wait_power
        return run_time * total
    if response == 0.0:
        return 0.0
    return -(response**power) * np.expm1(power * np.log1p(-run_time / response))


@compiled()
def cost_of_waiting(
    j: int, start: int, weights: FloatArray, free: FloatArray, discount_time_constant: float
) -> float:
    """Return the discounted cost of a job's lateness at `start`, without a ratio's part."""
    cost = 0.0
    for t in range(len(weights)):
        late = start - free[t, j]
        if late > 0.0:
            if discount_time_constant > 0.0:
                late = -discount_time_constant * np.expm1(-late / discount_time_constant)
            cost += weights[t, j] * late
    return cost


@compiled()
def cost_at(j: int, start: int, costs: StartTimeCosts) -> float:
    """Return the cost of a job at a start.

    Parameters
    ----------
    j
        The job.
    start
        Its start in seconds.
    costs
        The start-time cost functions.
    """
    cost = cost_of_waiting(j, start, costs.weights, costs.free, costs.discount_time_constant)
    if costs.amounts[j] != 0.0:
        a = costs.alpha + 1.0
        wait = float(start - costs.submit[j])
        high = _power_difference(wait, costs.run_times[j], a + 1.0)
        low = _power_difference(wait, costs.run_times[j], a)
        cost += costs.amounts[j] * (a / (a + 1.0) * high - costs.dinkelbach_parameter * low)
    return cost


@compiled()
def cheapest_start(j: int, low: int, costs: StartTimeCosts) -> int:
    """Return the start of least cost of job `j`, from `low` on, in seconds.

    Lateness only grows. A ratio, linearised at λ, first falls, where waiting adds to the ratio's
    denominator by more, and then grows: the age of each second of the run is weighed by a function
    that falls up to one age and grows beyond it. The minimum is found by bisection.
    """
    if costs.amounts[j] == 0.0 or costs.dinkelbach_parameter <= 0.0:
        return low
    first, high, step = low, low + 1, 1
    while step < _FARTHEST and cost_at(j, high + 1, costs) < cost_at(j, high, costs):
        # Doubling first: the minimum is mostly near, but can be days after a long wait.
        step *= 2
        high = first + step
    while low < high:
        middle = (low + high) // 2
        if cost_at(j, middle + 1, costs) < cost_at(j, middle, costs):
            low = middle + 1
        else:
            high = middle
    return low


@compiled()
def find_cheapest(costs: StartTimeCosts, starts: IntArray, least: FloatArray) -> None:
    """Write each job's start of least cost from its submission on, and that cost; both `[J]`."""
    for j in range(len(starts)):
        starts[j] = cheapest_start(j, costs.submit[j], costs)
        least[j] = cost_at(j, starts[j], costs)


@compiled()
def find_costs(costs: StartTimeCosts, starts: IntArray, found: FloatArray) -> None:
    """Write the cost of each job at its start into `found`, `[J]`."""
    for j in range(len(starts)):
        found[j] = cost_at(j, starts[j], costs)


def total(costs: StartTimeCosts, starts: IntArray) -> float:
    """Return the cost of a plan.

    Parameters
    ----------
    costs
        The start-time cost functions.
    starts
        Starts in seconds, `[J]`.
    """
    found = np.empty(len(starts))
    find_costs(costs, starts, found)
    end = float((starts + costs.run_times).max(initial=0))
    return float(found.sum()) + costs.makespan * end


def least_of_each(costs: StartTimeCosts) -> tuple[IntArray, FloatArray]:
    """Return each job's start of least cost, were it alone, and that cost; both `[J]`."""
    starts, least = np.empty_like(costs.submit), np.empty(len(costs.submit))
    find_cheapest(costs, starts, least)
    return starts, least


def costs_of(
    cost: PlannedCost, submit: IntArray, run_times: IntArray, discount_time_constant: float = 0.0
) -> StartTimeCosts:
    """Return the start-time cost functions of a planned cost, less its constant part.

    Parameters
    ----------
    cost
        The planned cost; its starts count from the same instant as `submit`.
    submit
        Submission of each job, in seconds, `[J]`; none starts before.
    run_times
        Run times in seconds, `[J]`.
    discount_time_constant
        Discount time constant of waits, in seconds; 0: waits count in full.
    """
    weights = np.atleast_2d(cost.weights)
    some = weights.any(axis=1)
    # Terms without any weight are dropped: compiled loops go over all terms of a job.
    weights = weights[some].astype(np.float64)
    free = np.maximum(np.atleast_2d(cost.free)[some], submit).astype(np.float64)
    if discount_time_constant:
        # Discounting starts at the round, not at `free`, so that all jobs are discounted alike.
        # A wait that begins after `free` seconds is discounted by them from the start.
        weights *= np.exp(-free / discount_time_constant)
    specific = cost.specific
    return StartTimeCosts(
        weights,
        free,
        float(cost.makespan),
        float(discount_time_constant),
        0.0 if specific is None else float(specific.alpha),
        0.0 if specific is None else float(specific.dinkelbach_parameter),
        np.zeros(len(submit)) if specific is None else specific.amounts.astype(np.float64),
        submit,
        run_times,
    )
