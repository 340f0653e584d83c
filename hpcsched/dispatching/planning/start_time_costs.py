"""Start-time cost functions: the cost of a job by its start, and its minimum, by the core."""

from typing import NamedTuple

import numpy as np

from hpcsched._core import find_cheapest, find_costs
from hpcsched.dispatching.planned_cost import FloatArray, PlannedCost
from hpcsched.portable_math import exp, of_each
from hpcsched.system.system import IntArray


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
    # Terms without any weight are dropped: the core goes over all terms of a job.
    weights = weights[some].astype(np.float64)
    free = np.maximum(np.atleast_2d(cost.free)[some], submit).astype(np.float64)
    if discount_time_constant:
        # Discounting starts at the round, not at `free`, so that all jobs are discounted alike.
        # A wait that begins after `free` seconds is discounted by them from the start.
        weights *= of_each(exp, -free / discount_time_constant)
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
