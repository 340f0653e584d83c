"""Small traces with CP-SAT where the objective is a ratio of sums, by Dinkelbach's method.

At a Dinkelbach parameter λ a plan costs Σ upper − λ · Σ lower, and it costs less than 0 just where
its ratio is below λ. So the least cost at the ratio of the best plan at hand is asked for, the plan
found gives the next λ, and once no plan costs less than 0 the ratio is the least there is
(Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967). A bound of the
cost bounds the ratio: where no plan costs less than −b, none has a ratio below λ − b / Σ lower, and
Σ lower is least where every job starts when it is submitted.

What a job costs at λ may fall with its start, so that jobs may start later than they could. A
start is modelled second by second where few are possible, and by linear pieces otherwise (see
`SpecificCostFunctions`); the bound allows for what the pieces lose.
"""

from collections import Counter, deque
from collections.abc import Iterator
from math import floor, log2
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from hpcsched._core import cost_at, find_costs
from hpcsched.dispatching.offline.exact_cost import add_room, parts_of_trace, solved
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_at,
    ratio,
)
from hpcsched.dispatching.planned_cost import SpecificCost
from hpcsched.dispatching.planning.start_cost_functions import (
    FEW_STEPS,
    Shape,
    SpecificCostFunctions,
    StartCostFunction,
)
from hpcsched.dispatching.planning.start_time_costs import (
    StartTimeCosts,
    least_of_each,
)
from hpcsched.system.system import IntArray

MOST_JOBS = 40
"""Traces of more jobs are not given to the solver."""

MOST_LEVELS = 8
"""Maximum number of Dinkelbach parameters; each has half of the effort that is left."""

_SHARE = 0.25
"""The part of the solver's effort that ratios get: after it little is gained and nothing proved."""

_PIECES = 48
"""Into how many pieces a curve is parted: enough for bounds that are close."""

_LARGEST = 1 << 42
"""What all curves of a model together may amount to; the rest is rounded away."""

_GAIN = 1e-12
"""A Dinkelbach parameter that is lower by less, relatively, is the last."""

_ERROR = 1e-11
"""What rounding may have added to a bound, as a share of the size of its terms."""


class ExactRatio(NamedTuple):
    """The solver's plan and bound for a ratio of sums.

    Attributes
    ----------
    starts
        Starts in seconds, `[J]`; they hold by count, not necessarily on nodes.
    bound
        Lower bound of the ratio.
    statuses
        Number of parts of the trace by outcome, at the last Dinkelbach parameter.
    """

    starts: IntArray
    bound: float
    statuses: Counter[str]


class _Solved(NamedTuple):
    """The result at one λ: starts, `[J]`, a bound of the cost, and outcomes of the parts."""

    starts: IntArray
    bound: float
    statuses: Counter[str]


def solve_ratio(
    trace: Trace, linearised: LinearisedObjective, starts: IntArray, effort: float
) -> ExactRatio:
    """Solve a trace by Dinkelbach's method.

    Parameters
    ----------
    trace
        The trace, as arrays.
    linearised
        The ratio, as a linearised cost.
    starts
        Starts of a known plan in seconds, `[J]`: the warm start.
    effort
        The solver's deterministic time; `_SHARE` of it is for all values of λ together.
    """
    best, dinkelbach_parameter, bound = starts, ratio(trace, linearised, starts), 0.0
    statuses: Counter[str] = Counter()
    left = _SHARE * effort
    for _ in range(MOST_LEVELS):
        # Half of the rest for each parameter: the first ones gain most, and the last one must still
        # prove.
        left /= 2
        costs = linearised_at(linearised, dinkelbach_parameter).costs
        found = _solve_linearised(trace, costs, best, left)
        statuses = found.statuses
        least = _sums_at_submission(costs)[1]
        if least > 0:
            bound = max(bound, dinkelbach_parameter + min(found.bound, 0.0) / least)
        value = ratio(trace, linearised, found.starts)
        if value >= dinkelbach_parameter * (1 - _GAIN):
            break
        best, dinkelbach_parameter = found.starts, value
    return ExactRatio(best, bound, statuses)


def _solve_linearised(
    trace: Trace, costs: StartTimeCosts, starts: IntArray, effort: float
) -> _Solved:
    """Solve all parts at the parameter of the costs, beginning with a plan that is known."""
    better, bound, statuses = starts.copy(), 0.0, Counter[str]()
    now = np.empty(trace.job_count)
    find_costs(costs, starts, now)
    _, least = least_of_each(costs)
    parts = deque(parts_of_trace(trace, starts))
    while parts:
        part = parts.popleft()
        latest = _latest(costs, part, float(now[part].sum()), least)
        model = _Model(trace, costs, part, latest)
        status, found, at_least = model.solve(starts, effort * len(part) / trace.job_count)
        end = 0 if found is None else int((found + trace.content.run_times[part]).max())
        if parts and end > trace.submit[parts[0][0]]:
            # Jobs that start later than they could are in the way of the next part.
            parts[0] = np.concatenate((part, parts[0]))
            continue
        statuses[status] += 1
        bound += at_least
        if found is not None:
            better[part] = found
    return _Solved(better, bound, statuses)


def _latest(costs: StartTimeCosts, part: IntArray, known: float, least: np.ndarray) -> IntArray:
    """Return the latest start of each job of a part in a plan that costs no more than `known`.

    Beyond its cheapest start a job costs more and more: the last start is found by bisection.
    """
    cheapest, _ = least_of_each(costs)
    together = float(least[part].sum())
    latest = np.empty(len(part), dtype=np.int64)
    for k, j in enumerate(part.tolist()):
        # All others cost at least their least: what is left is for this job.
        spare = known - (together - float(least[j]))
        spare += _ERROR * (abs(known) + float(np.abs(least[part]).sum()))
        low, step = int(cheapest[j]), 1
        while cost_at(costs, j, low + step) <= spare:
            step *= 2
        high = low + step
        while low + 1 < high:
            middle = (low + high) // 2
            if cost_at(costs, j, middle) <= spare:
                low = middle
            else:
                high = middle
        latest[k] = low
    return latest


def _sums_at_submission(costs: StartTimeCosts) -> tuple[float, float]:
    """Return Σ upper and Σ lower where every job starts when it is submitted."""
    specific = SpecificCost(
        costs.alpha, costs.dinkelbach_parameter, costs.amounts, np.zeros(len(costs.amounts))
    )
    return specific.sums(np.zeros_like(costs.submit), costs.run_times)


class _Model:
    """A part of a trace at one λ: the jobs' delays after their submissions, and their curves."""

    def __init__(
        self, trace: Trace, costs: StartTimeCosts, part: IntArray, latest: IntArray
    ) -> None:
        self._trace, self._part = trace, part
        self._costs = costs._replace(
            amounts=costs.amounts[part], submit=costs.submit[part], run_times=costs.run_times[part]
        )
        self._delays = latest - self._costs.submit
        amounts = self._costs.amounts
        specific = SpecificCost(
            costs.alpha, costs.dinkelbach_parameter, amounts, np.zeros(len(part))
        )
        curves = SpecificCostFunctions(specific, self._costs.run_times, 1)
        self._shapes: list[Shape] = curves.shapes(self._delays, _PIECES)
        reach = sum(shape.reach for shape in self._shapes)
        # A power of two, so that scaling back loses no digit.
        self._scale = 2.0 ** floor(log2(_LARGEST / reach)) if reach > 0 else 1.0

    def solve(self, starts: IntArray, work: float) -> tuple[str, IntArray | None, float]:
        """Return the status, the starts of the jobs of the part, and a bound of their cost."""
        model = cp_model.CpModel()
        submit, run_times = self._costs.submit, self._costs.run_times
        begins, terms = {}, []
        for k, j in enumerate(self._part.tolist()):
            first, delay = int(submit[k]), int(starts[j] - submit[k])
            latest = max(int(self._delays[k]), delay)
            begins[j] = model.new_int_var(first, first + latest, f"s{j}")
            model.add_hint(begins[j], first + delay)
            terms.append(_curve_of(model, begins[j] - first, self._curve(k), latest))
        add_room(model, self._trace, begins)
        model.minimize(sum(terms))
        solver, status = solved(model, work)
        bound = self._cost_of(solver.best_objective_bound)
        if status == "unknown":
            return status, None, bound
        found = np.array([solver.value(begins[j]) for j in self._part.tolist()], dtype=np.int64)
        assert (found + run_times >= submit).all()
        return status, found, bound

    def _curve(self, k: int) -> StartCostFunction:
        return self._shapes[k].rounded(self._scale)

    def _cost_of(self, objective: float) -> float:
        """Return a bound of the jobs' cost, given one of the model's objective."""
        upper, lower = _sums_at_submission(self._costs)
        lost = sum(shape.lost(self._scale, 1) for shape in self._shapes)
        dinkelbach_parameter = self._costs.dinkelbach_parameter
        size = upper + dinkelbach_parameter * lower + abs(objective) / self._scale
        return upper - dinkelbach_parameter * lower + objective / self._scale - lost - _ERROR * size


def _curve_of(
    model: cp_model.CpModel, delay: cp_model.LinearExprT, curve: StartCostFunction, latest: int
) -> cp_model.LinearExprT:
    """Return the cost of a delay, by its curve; beyond the last breakpoint the last piece goes on.

    Second by second it is looked up; otherwise one of the pieces is chosen.
    """
    if latest == 0 or len(curve.at) == 1:
        return 0
    # Between breakpoints the curve is straight, so that these are its extremes.
    cost = model.new_int_var(min(map(curve.value, (*curve.at, latest))),
                             max(map(curve.value, (*curve.at, latest))), "")  # fmt: skip
    if latest <= FEW_STEPS:
        table = [curve.value(second) for second in range(latest + 1)]
        model.add_element(delay, table, cost)
        return cost
    pieces = list(_pieces(curve, latest))
    chosen = [model.new_bool_var("") for _ in pieces]
    model.add_exactly_one(chosen)
    for literal, (begin, end, low, slope) in zip(chosen, pieces, strict=True):
        model.add(delay >= begin).only_enforce_if(literal)
        model.add(delay <= end).only_enforce_if(literal)
        model.add(cost == low + slope * (delay - begin)).only_enforce_if(literal)
    return cost


def _pieces(curve: StartCostFunction, latest: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield begin, end, cost at the begin, and slope of each piece up to the latest delay."""
    slopes = curve.slopes
    for k, slope in enumerate(slopes):
        end = max(curve.at[k + 1], latest) if k + 1 == len(slopes) else curve.at[k + 1]
        yield curve.at[k], end, curve.cost[k], slope
