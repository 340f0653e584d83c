"""Small traces with CP-SAT: the best plan, and a lower bound of the objective of all plans.

The model has a start for each job, not before its submission, and a cumulative constraint for each
resource type over all nodes together (the off-line scheduling of Goponenko et al., DEBS 2024,
section 2.3). Where units are not all alike that allows more than nodes do, so its bound holds and
its plan may not.

A trace falls into parts where a plan leaves nothing waiting or running when the next job is
submitted. Jobs of one part by themselves cost no more than beside others, so the bounds of all
parts add up; and where each part's best plan is over before the next begins, they are one plan.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, lcm, log2

import numpy as np
from ortools.sat.python import cp_model

from hpcsched._core import cost_at
from hpcsched.dispatching.offline.offline_trace import Trace, least_demands
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, total
from hpcsched.system.system import IntArray

MOST_JOBS = 200
"""Traces of more jobs are not given to the solver."""

WORK = 60.0
"""Default effort of the solver for all parts together, in its deterministic time (see `solve`)."""

_LARGEST = 1 << 42
"""What the model's objective may amount to; the rest is rounded away."""

_FINEST = 1_000_000
"""The largest denominator of a weight as a share of the least one."""

_CLOSE = 1e-12
"""Relative tolerance of a weight that counts as a multiple of another."""


def solve(
    trace: Trace, costs: StartTimeCosts, starts: IntArray, effort: float
) -> tuple[IntArray, float]:
    """Solve a trace part by part; return starts, `[J]`, and a lower bound of the cost.

    The starts hold by count, not necessarily on nodes; those of a known plan are the warm start.
    """
    better, bound = starts.copy(), 0.0
    # The last end is everyone's: it cannot be split over parts.
    parts = [np.arange(trace.job_count)] if costs.makespan else parts_of_trace(trace, starts)
    for part in parts:
        known = _cost(costs, part, starts)
        if known <= 0:
            continue
        work = effort * len(part) / trace.job_count
        found, least = _solve_part(trace, costs, part, starts, work)
        bound += least
        if found is not None and _cost(costs, part, found) < known:
            better[part] = found[part]
    return better, bound


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
) -> tuple[IntArray | None, float]:
    """Return the starts of the best plan found, `[J]`, and a lower bound."""
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
    found = None
    if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = starts.copy()
        for j, begin in begins.items():
            found[j] = solver.value(begin)
    # The model's objective is a whole number; only the solver's report of its bound is a float.
    bound = max(ceil(solver.best_objective_bound - 1e-6), 0) / scale
    return found, bound


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
