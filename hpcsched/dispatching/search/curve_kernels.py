"""Compiled: what jobs cost by when they start."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray


class Curves(NamedTuple):
    """What each job costs by its start, in steps.

    It is `Σ weights[t, j] · late[t] + amounts[j] · ((α+1)/(α+2) · (F^(α+2) − Q^(α+2)) − level ·
    (F^(α+1) − Q^(α+1)))`, with `late[t]` = max(start, free[t, j]), Q = waits[j] + start and F = Q +
    durations[j]. If `patience` is not 0, `late` is discounted: patience · (1 − exp(−late /
    patience)). To the sum is added `makespan` · last end. `weights` and `free` are `[T, J]`.
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


@compiled()
def _power(base: float, exponent: float) -> float:
    """Return a power; small whole ones, which psf takes most often, by multiplying."""
    if exponent != np.floor(exponent) or exponent > 8.0:
        result: float = base**exponent
        return result
    result = 1.0
    for _ in range(int(exponent)):
        result *= base
    return result


@compiled()
def waiting_cost(
    j: int, start: int, weights: FloatArray, free: FloatArray, patience: float
) -> float:
    """Return what a job's start costs but for what a ratio adds; arguments as in `Curves`."""
    cost = 0.0
    for t in range(len(weights)):
        if weights[t, j] != 0.0:
            late = max(float(start), free[t, j])
            if patience > 0.0:
                late = -patience * np.expm1(-late / patience)
            cost += weights[t, j] * late
    return cost


@compiled()
def cost_of(j: int, start: int, curves: Curves) -> float:
    """Return what a job costs."""
    cost = waiting_cost(j, start, curves.weights, curves.free, curves.patience)
    if curves.amounts[j] != 0.0:
        a = curves.alpha + 1.0
        wait = curves.waits[j] + start
        response = wait + curves.durations[j]
        high = _power(response, a + 1.0) - _power(wait, a + 1.0)
        low = _power(response, a) - _power(wait, a)
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
