"""Small traces with CP-SAT: the best plan, and a lower bound of the objective of all plans.

The model has a start for each job, not before its submission, and a cumulative constraint for each
resource type over all nodes together (the off-line scheduling of Goponenko et al., DEBS 2024,
section 2.3). Where units are not all alike that allows more than nodes do, so its bound holds and
its plan may not.

A trace falls into parts where a plan leaves nothing waiting or running when the next job is
submitted. Jobs of one part by themselves cost no more than beside others, so the bounds of all
parts add up; and where each part's best plan is over before the next begins, they are one plan.

A ratio of sums is solved by Dinkelbach's method. At a Dinkelbach parameter λ a plan costs Σ upper −
λ · Σ lower, and it costs less than 0 just where its ratio is below λ. So the least cost at the
ratio of the best plan at hand is asked for, the plan found gives the next λ, and once no plan costs
less than 0 the ratio is the least there is (Dinkelbach, "On nonlinear fractional programming",
Management Science 13, 1967). A bound of the cost bounds the ratio: where no plan costs less than
−b, none has a ratio below λ − b / Σ lower, and Σ lower is least where every job starts when it is
submitted.

What a job costs at λ may fall with its start, so that jobs may start later than they could. A
start is modelled second by second where few are possible, and by linear pieces otherwise (see
`SpecificCostFunctions`); the bound allows for what the pieces lose.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor, lcm, log2
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from hpcsched._core import cost_at, find_costs
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    least_demands,
    linearised_at,
    ratio,
)
from hpcsched.dispatching.planned_cost import SpecificCost
from hpcsched.dispatching.planning.start_time_costs import (
    FEW_STEPS,
    SpecificCostFunctions,
    StartCostFunction,
    StartTimeCosts,
    least_of_each,
    total,
)
from hpcsched.system.system import IntArray

MOST_JOBS = 200
"""Traces of more jobs are not given to the solver."""

MOST_JOBS_OF_A_RATIO = 40
"""The same where the objective is a ratio of sums."""

WORK = 60.0
"""Default effort of the solver for all parts together, in its deterministic time (see `solve`)."""

MOST_LEVELS = 8
"""Maximum number of Dinkelbach parameters; each has half of the effort that is left."""

_SHARE = 0.25
"""The part of the solver's effort that ratios get: after it little is gained and nothing proved."""

_PIECES = 48
"""Into how many pieces a curve is parted: enough for bounds that are close."""

_LARGEST = 1 << 42
"""What the model's objective may amount to; the rest is rounded away."""

_FINEST = 1_000_000
"""The largest denominator of a weight as a share of the least one."""

_CLOSE = 1e-12
"""By how much, relatively, a weight may differ from a multiple; a lesser gain in λ is the last."""

_ERROR = 1e-11
"""What rounding may have added to a bound, as a share of the size of its terms."""

_STATUS = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible"}


class ExactPlan(NamedTuple):
    """The solver's plan and bound for a trace.

    Attributes
    ----------
    starts
        Starts in seconds, `[J]`; they hold by count, not necessarily on nodes.
    statuses
        Number of parts of the trace by outcome.
    """

    starts: IntArray
    bound: float
    statuses: Counter[str]


def solve(trace: Trace, costs: StartTimeCosts, starts: IntArray, effort: float) -> ExactPlan:
    """Solve a trace part by part.

    Parameters
    ----------
    starts
        Starts of a known plan in seconds, `[J]`: the warm start.
    """
    better, bound, statuses = starts.copy(), 0.0, Counter[str]()
    # The last end is everyone's: it cannot be split over parts.
    parts = [np.arange(trace.job_count)] if costs.makespan else parts_of_trace(trace, starts)
    for part in parts:
        known = _cost(costs, part, starts)
        if known <= 0:
            statuses["nothing to gain"] += 1
            continue
        work = effort * len(part) / trace.job_count
        status, found, least = _solve_part(trace, costs, part, starts, work)
        statuses[status] += 1
        bound += least
        if found is not None and _cost(costs, part, found) < known:
            better[part] = found[part]
    return ExactPlan(better, bound, statuses)


def parts_of_trace(trace: Trace, starts: IntArray) -> Iterator[IntArray]:
    """Yield the numbers of the jobs of each part, by submission, given a plan that is known."""
    ended = np.maximum.accumulate(starts + trace.run_times)
    # Jobs are in order of submission, so that comparing with the next one is enough.
    cuts = (ended[:-1] <= trace.submit[1:]).nonzero()[0] + 1
    yield from np.split(np.arange(trace.job_count), cuts)


def _cost(costs: StartTimeCosts, part: IntArray, starts: IntArray) -> float:
    """Return the cost of the jobs of a part, with the last end where it is the only part."""
    if costs.makespan:
        return total(costs, starts)
    return float(sum(cost_at(costs, j, int(starts[j])) for j in part))


def _solve_part(
    trace: Trace, costs: StartTimeCosts, part: IntArray, starts: IntArray, work: float
) -> tuple[str, IntArray | None, float]:
    """Return how it went, the starts of the best plan found, `[J]`, and a lower bound."""
    model, known = cp_model.CpModel(), _cost(costs, part, starts)
    scale = _scale(costs, part, known)
    # Some best plan has every job start at a submission or at the end of one before it.
    horizon = int(trace.submit[part].max() + trace.run_times[part].sum())
    begins, terms = {}, []
    for j in part.tolist():
        first = int(trace.submit[j])
        latest = horizon - int(trace.run_times[j])
        for weights, free in zip(costs.weights, costs.free, strict=True):
            if weights[j] > 0:  # a later start alone would cost more than is known
                latest = min(latest, int(free[j] + known / weights[j]) + 1)
        # The hint must be within the domain, even where rounding would have cut it off.
        begins[j] = model.new_int_var(first, max(latest, int(starts[j])), f"s{j}")
        model.add_hint(begins[j], int(starts[j]))
        for weights, free in zip(costs.weights, costs.free, strict=True):
            weight, until = floor(weights[j] * scale), int(free[j])
            if not weight:
                continue
            late = begins[j] - until
            if until > first:
                waited = model.new_int_var(0, max(horizon - until, 0), f"late{j}")
                model.add(waited >= late)
                model.add_hint(waited, max(int(starts[j]) - until, 0))
                late = waited
            terms.append(weight * late)
    if costs.makespan:
        end = model.new_int_var(0, horizon, "end")
        model.add_hint(end, int((starts + trace.run_times).max()))
        for j, begin in begins.items():
            model.add(end >= begin + int(trace.run_times[j]))
        terms.append(floor(costs.makespan * scale) * end)
    status, solver = _solved(model, trace, begins, terms, work)
    # The model's objective is a whole number; only the solver's report of its bound is a float.
    bound = max(ceil(solver.best_objective_bound - 1e-6), 0) / scale
    return status, _found(solver, status, begins, starts), bound


def _solved(
    model: cp_model.CpModel,
    trace: Trace,
    begins: Mapping[int, cp_model.IntVar],
    terms: list[cp_model.LinearExprT],
    work: float,
) -> tuple[str, cp_model.CpSolver]:
    """Minimise the terms for so long, deterministically; jobs find room on all nodes together."""
    intervals = {
        j: model.new_fixed_size_interval_var(begin, int(trace.run_times[j]), "")
        for j, begin in begins.items()
    }
    demands = least_demands(trace)
    for r, capacity in enumerate(trace.data.totals.tolist()):
        asking = [j for j in begins if demands[j, r]]
        amounts = [int(demands[j, r]) for j in asking]
        if sum(amounts) > capacity:
            model.add_cumulative([intervals[j] for j in asking], amounts, capacity)
    model.minimize(sum(terms))
    solver = cp_model.CpSolver()
    # One worker, a fixed seed and deterministic time: equal traces get equal plans.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = work
    solver.parameters.catch_sigint_signal = False
    return _STATUS.get(solver.solve(model), "unknown"), solver


def _found(
    solver: cp_model.CpSolver, status: str, begins: Mapping[int, cp_model.IntVar], starts: IntArray
) -> IntArray | None:
    """Return a plan with the starts that were found, `[J]`; None without any."""
    if status == "unknown":
        return None
    found = starts.copy()
    for j, begin in begins.items():
        found[j] = solver.value(begin)
    return found


def _scale(costs: StartTimeCosts, part: IntArray, known: float) -> float:
    """Return the factor of costs before they are rounded down to whole numbers.

    Down, so that the model's objective stays below what plans cost and its bound holds. Where all
    weights are multiples of one number, as areas are, they become small whole numbers exactly.
    """
    weights = costs.weights[:, part]
    some = np.unique(weights[weights > 0]).tolist()
    if costs.makespan:
        some.append(costs.makespan)
    least = min(some)
    shares = [Fraction(weight / least).limit_denominator(_FINEST) for weight in some]
    scale = lcm(*(share.denominator for share in shares)) / least
    multiples = [(weight * scale, round(weight * scale)) for weight in some]
    exact = all(abs(multiple - n) <= _CLOSE * n for multiple, n in multiples)
    if exact and known * scale <= _LARGEST:
        return float(scale * (1 + _CLOSE))  # so that rounding down finds them
    return float(2.0 ** floor(log2(_LARGEST / known)))


def solve_ratio(
    trace: Trace, linearised: LinearisedObjective, starts: IntArray, effort: float
) -> ExactPlan:
    """Solve a trace by Dinkelbach's method.

    Parameters
    ----------
    starts
        Starts of a known plan in seconds, `[J]`: the warm start.
    """
    best, dinkelbach_parameter, bound = starts, ratio(trace, linearised, starts), 0.0
    statuses: Counter[str] = Counter()
    left = _SHARE * effort
    for _ in range(MOST_LEVELS):
        # Half of the rest for each parameter: the first ones gain most, and the last one must still
        # prove.
        left /= 2
        costs = linearised_at(linearised, dinkelbach_parameter).costs
        found, least_cost, statuses = _solve_linearised(trace, costs, best, left)
        least = _sums_at_submission(costs)[1]
        if least > 0:
            bound = max(bound, dinkelbach_parameter + min(least_cost, 0.0) / least)
        value = ratio(trace, linearised, found)
        if value >= dinkelbach_parameter * (1 - _CLOSE):
            break
        best, dinkelbach_parameter = found, value
    return ExactPlan(best, bound, statuses)


def _solve_linearised(
    trace: Trace, costs: StartTimeCosts, starts: IntArray, effort: float
) -> ExactPlan:
    """Solve all parts at the parameter of the costs, beginning with a plan that is known."""
    better, bound, statuses = starts.copy(), 0.0, Counter[str]()
    parts = deque(parts_of_trace(trace, starts))
    while parts:
        part = parts.popleft()
        work = effort * len(part) / trace.job_count
        status, found, at_least = _solve_curves(trace, costs, part, starts, work)
        end = 0 if found is None else int((found + trace.run_times)[part].max())
        if parts and end > trace.submit[parts[0][0]]:
            # Jobs that start later than they could are in the way of the next part.
            parts[0] = np.concatenate((part, parts[0]))
            continue
        statuses[status] += 1
        bound += at_least
        if found is not None:
            better[part] = found[part]
    return ExactPlan(better, bound, statuses)


def _latest(costs: StartTimeCosts, part: IntArray, known: float) -> IntArray:
    """Return the latest start of each job of a part in a plan that costs no more than `known`.

    Beyond its cheapest start a job costs more and more: the last start is found by bisection.
    """
    cheapest, least = least_of_each(costs)
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


def _at_submission(costs: StartTimeCosts) -> SpecificCost:
    """Return the ratio of sums of jobs whose starts count from their submissions."""
    waits = np.zeros(len(costs.amounts))
    return SpecificCost(costs.alpha, costs.dinkelbach_parameter, costs.amounts, waits)


def _sums_at_submission(costs: StartTimeCosts) -> tuple[float, float]:
    """Return Σ upper and Σ lower where every job starts when it is submitted."""
    return _at_submission(costs).sums(np.zeros_like(costs.submit), costs.run_times)


def _solve_curves(
    trace: Trace, costs: StartTimeCosts, part: IntArray, starts: IntArray, work: float
) -> tuple[str, IntArray | None, float]:
    """Return how it went at one λ, the starts of the best plan found, `[J]`, and a lower bound."""
    now = np.empty(trace.job_count)
    find_costs(costs, starts, now)
    latest = _latest(costs, part, float(now[part].sum()))
    costs = costs._replace(
        amounts=costs.amounts[part], submit=costs.submit[part], run_times=costs.run_times[part]
    )
    delays = latest - costs.submit
    shapes = SpecificCostFunctions(_at_submission(costs), costs.run_times, 1).shapes(
        delays, _PIECES
    )
    reach = sum(shape.reach for shape in shapes)
    # A power of two, so that scaling back loses no digit.
    scale = 2.0 ** floor(log2(_LARGEST / reach)) if reach > 0 else 1.0
    model = cp_model.CpModel()
    begins, terms = {}, []
    for k, j in enumerate(part.tolist()):
        first, delay = int(costs.submit[k]), int(starts[j] - costs.submit[k])
        last = max(int(delays[k]), delay)
        begins[j] = model.new_int_var(first, first + last, f"s{j}")
        model.add_hint(begins[j], first + delay)
        terms.append(_curve_of(model, begins[j] - first, shapes[k].rounded(scale), last))
    status, solver = _solved(model, trace, begins, terms, work)
    upper, lower = _sums_at_submission(costs)
    lower *= costs.dinkelbach_parameter
    objective = solver.best_objective_bound / scale
    lost = sum(shape.lost(scale, 1) for shape in shapes)
    bound = upper - lower + objective - lost - _ERROR * (upper + lower + abs(objective))
    return status, _found(solver, status, begins, starts), bound


def _curve_of(
    model: cp_model.CpModel, delay: cp_model.LinearExprT, curve: StartCostFunction, latest: int
) -> cp_model.LinearExprT:
    """Return the cost of a delay, by its curve; beyond the last breakpoint the last piece goes on.

    Second by second it is looked up; otherwise one of the pieces is chosen.
    """
    if latest == 0 or len(curve.at) == 1:
        return 0
    # Between breakpoints the curve is straight, so that these are its extremes.
    extremes = [curve.value(at) for at in (*curve.at, latest)]
    cost = model.new_int_var(min(extremes), max(extremes), "")
    if latest <= FEW_STEPS:
        table = [curve.value(second) for second in range(latest + 1)]
        model.add_element(delay, table, cost)
        return cost
    ends = [*curve.at[1:-1], max(curve.at[-1], latest)]
    chosen = [model.new_bool_var("") for _ in ends]
    model.add_exactly_one(chosen)
    for k, literal in enumerate(chosen):
        begin = curve.at[k]
        model.add(delay >= begin).only_enforce_if(literal)
        model.add(delay <= ends[k]).only_enforce_if(literal)
        line = curve.cost[k] + curve.slopes[k] * (delay - begin)
        model.add(cost == line).only_enforce_if(literal)
    return cost
