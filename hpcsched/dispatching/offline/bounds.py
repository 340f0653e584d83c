"""Lower bounds of the objective over all schedules of a trace.

Each is computed for each resource type by itself, all nodes together, which only allows more
schedules; the largest counts.

Jobs on aggregated nodes with `m` units are taken for jobs on one machine that is as fast as the
whole of them, on which they may be interrupted and take turns: a job that holds d units for p
seconds is one of area a = d · p, which takes a / m seconds. Any schedule of the nodes is one of the
machine, with each area spread evenly over its run. The mean of the instants at which a job is
worked on is its mean busy time M, and for a job that runs from S to S + p on the nodes it is S + p
/ 2. Of all schedules of the machine, the one that always works on the job with the largest weight
by area minimises Σ w·M (Goemans, Queyranne, Schulz, Skutella and Wang, "Single machine scheduling
with release dates", SIAM Journal on Discrete Mathematics 15, 2002). So no schedule of the nodes has
a Σ w · S below that minimum less Σ w · p / 2.

The minimum is one of a transport problem: area goes to instants, at a cost that grows in proportion
to the time, and the machine's capacity limits it. Its dual prices fall, while a job is worked on,
at the rate of that job's weight by area, and are 0 where the machine becomes idle.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hpcsched._core import find_costs, least_with_multipliers
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    least_demands,
    linearised_at,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, least_of_each
from hpcsched.portable_math import exp, of_each
from hpcsched.system.system import IntArray

ROUNDS = 60
"""Number of updates of the Lagrangian multipliers."""

LEVELS = 16
"""Number of bisection steps over Dinkelbach parameters of a ratio of sums."""

MOST_EDGES = 1 << 14
"""Maximum number of pieces of time with a multiplier of their own."""

_LOW = 0.1
"""Share of the mean-busy-time multipliers that the multiplicative updates begin with."""

_ERROR = 1e-11
"""What rounding may have added to a bound, as a share of the size of its terms."""


class MeanBusyTimes(NamedTuple):
    """The best schedule of the relaxed machine, as `K` pieces by time.

    Attributes
    ----------
    least
        Minimum of Σ w · M.
    begins, ends
        The machine works on one job from `begins[k]` to `ends[k]`, in seconds; both `[K]`.
    densities
        Weight by area of that job, `[K]`.
    """

    least: float
    begins: FloatArray
    ends: FloatArray
    densities: FloatArray

    def multipliers(self) -> FloatArray:
        """Return the dual price of an area at the beginning of each piece, `[K]`."""
        falls = self.densities * (self.ends - self.begins)
        multipliers = np.zeros(len(falls) + 1)
        for k in range(len(falls) - 1, -1, -1):
            joined = k + 1 < len(falls) and self.begins[k + 1] <= self.ends[k]
            multipliers[k] = falls[k] + (multipliers[k + 1] if joined else 0.0)
        return multipliers[:-1]


def mean_busy_times(
    submit: IntArray, areas: IntArray, weights: FloatArray, capacity: int
) -> MeanBusyTimes:
    """Return the best schedule of the relaxed machine.

    Parameters
    ----------
    submit
        Submissions in seconds, ascending, `[J]`.
    areas
        Units × seconds of each job, `[J]`.
    weights
        Weight of each job's mean busy time, `[J]`.
    """
    left = (areas / capacity).tolist()
    densities = (weights / areas).tolist()
    submitted = submit.tolist()
    ready: list[tuple[float, int]] = []
    pieces: list[tuple[float, float, float]] = []
    least, now, upcoming, count = 0.0, 0.0, 0, len(left)
    while upcoming < count or ready:
        if not ready:
            now = max(now, float(submitted[upcoming]))
        while upcoming < count and submitted[upcoming] <= now:
            # Ties go by number, so that the pieces are the same on every machine.
            heappush(ready, (-densities[upcoming], upcoming))
            upcoming += 1
        _, job = ready[0]
        until = now + left[job]
        # The job goes on to be the first unless the new one is denser: it stays in the heap.
        if upcoming < count and submitted[upcoming] < until:
            until = float(submitted[upcoming])
            left[job] -= until - now
        else:
            heappop(ready)
        # ∫ t dt over the piece, times the weight by time on the machine
        least += densities[job] * capacity * (until - now) * (until + now) / 2
        pieces.append((now, until, densities[job]))
        now = until
    begins, ends, rates = (np.array(column) for column in zip(*pieces, strict=True))
    return MeanBusyTimes(least, begins, ends, rates)


class Bound(NamedTuple):
    """A lower bound of an objective, in its own unit, and its source in words."""

    value: float
    source: str


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


class _Resource(NamedTuple):
    """A resource type: the demand of each job, `[J]`, and the capacity."""

    demands: IntArray
    capacity: int


def lower_bound(trace: Trace, linearised: LinearisedObjective, starts: IntArray) -> Bound:
    """Return the best lower bound of an objective.

    Parameters
    ----------
    starts
        Starts of a known plan in seconds, `[J]`; they give the first multipliers.
    """
    if linearised.ratio:
        return _ratio_bound(trace, linearised, starts)
    bounds = [
        Bound(linearised.value(cost), source)
        for cost, source in _cost_bounds(trace, linearised.costs, starts)
    ]
    return max(bounds, key=itemgetter(0))


def _resources(trace: Trace) -> list[_Resource]:
    """Return the resource types that jobs ask for."""
    demands = least_demands(trace)
    return [
        _Resource(np.ascontiguousarray(demands[:, r]), int(total))
        for r, total in enumerate(trace.data.totals)
        if demands[:, r].any()
    ]


def _cost_bounds(
    trace: Trace, costs: StartTimeCosts, starts: IntArray
) -> Iterator[tuple[float, str]]:
    """Yield lower bounds of the cost of all jobs, each with its source."""
    # Also the starting point of the Lagrangian bounds: the same jobs with multipliers of 0.
    cheapest, least = least_of_each(costs)
    last = int((trace.submit + trace.run_times).max())
    resources = _resources(trace)
    for demands, capacity in resources:
        # The latest submissions plus their remaining area.
        areas = (demands * trace.run_times)[::-1].cumsum()[::-1]
        last = max(last, int((trace.submit + -(-areas // capacity)).max()))
    end = costs.makespan * last
    source = "each job by itself" if costs.weights.any() else "work and submissions"
    yield _safe(float(least.sum()) + end, float(least.sum()) + end), source
    # The bounds below are about weighted starts; a makespan alone has none. Jobs cost at least
    # weight · (start − submission), terms left out that cost nothing for a while: a later `free`
    # would make the bound per second too large for the time before it.
    at_once = costs.free <= costs.submit
    weights = np.asarray(np.where(at_once, costs.weights, 0.0).sum(axis=0))
    for resource in resources:
        some = (weights > 0) & (resource.demands > 0)
        if not some.any():
            continue
        best = mean_busy_times(
            costs.submit[some],
            (resource.demands * costs.run_times)[some],
            weights[some],
            resource.capacity,
        )
        # Busy times are middles of jobs: half a run time and the submission are no waiting.
        less = float((weights * (costs.submit + costs.run_times / 2))[some].sum())
        yield _safe(best.least - less, best.least + less) + end, "mean busy times"
        multipliers = _initial_multipliers(trace, best, starts)
        low = _multipliers(multipliers.edges, multipliers.rates * _LOW)
        for first, by_factors in ((multipliers, False), (low, True)):
            for cost, _ in _lagrangian_bounds(
                resource, costs, cheapest, first, ROUNDS, by_factors=by_factors
            ):
                yield cost + end, "multipliers of time"


def _safe(value: float, size: float) -> float:
    """Return a bound less the largest possible rounding error of terms of this size."""
    return value - _ERROR * abs(size)


def _initial_multipliers(trace: Trace, best: MeanBusyTimes, starts: IntArray) -> Multipliers:
    """Return the multipliers of mean busy times, by pieces of time that suit a known plan."""
    ends = starts + trace.run_times
    instants = np.unique(np.concatenate((trace.submit, starts, ends)))
    # Coarser pieces give a weaker bound, never a wrong one.
    if len(instants) > MOST_EDGES:
        instants = instants[np.linspace(0, len(instants) - 1, MOST_EDGES).astype(np.int64)]
    edges = instants
    # What a piece costs on average: the integral of a row of falling lines, looked up at its ends.
    rates = best.multipliers()
    lengths = best.ends - best.begins
    whole = np.concatenate(([0.0], (lengths * (rates - best.densities * lengths / 2)).cumsum()))
    at = np.searchsorted(best.begins, edges, side="right") - 1
    inside = np.clip(edges - best.begins[at], 0.0, lengths[at])
    upto = whole[at] + inside * (rates[at] - best.densities[at] * inside / 2)
    upto[at < 0] = 0.0
    return _multipliers(edges, np.maximum(np.diff(upto) / np.diff(edges), 0.0))


def _multipliers(edges: IntArray, rates: FloatArray) -> Multipliers:
    upto = np.concatenate(([0.0], (rates * np.diff(edges)).cumsum()))
    return Multipliers(edges, rates, upto)


def _lagrangian_bounds(
    resource: _Resource,
    costs: StartTimeCosts,
    cheapest: IntArray,
    multipliers: Multipliers,
    rounds: int,
    *,
    by_factors: bool = False,
) -> Iterator[tuple[float, Multipliers]]:
    """Yield lower bounds and their multipliers, round after round of subgradient ascent.

    Whatever a second of a unit costs: no schedule costs less than its jobs do, each by itself, if
    they pay for what they use, less what the whole resource would pay for all the time (Lagrangian
    relaxation). Where jobs would use more than there is, the price rises, and falls where they use
    less, by steps that become smaller (AdaGrad; Duchi, Hazan and Singer, 2011). With `by_factors`
    multipliers are multiplied rather than added to, which suits those of unlike sizes.
    """
    lengths = np.diff(multipliers.edges)
    rates, used = multipliers.rates, np.empty(len(lengths))
    some = rates[rates > 0]
    steps = 0.3 * np.maximum(rates, 0.1 * float(some.mean()) if len(some) else 0.0)
    least_rate = 0.1 * float(np.percentile(some, 5)) if len(some) else 0.0
    squares = np.ones(len(lengths))
    for _ in range(rounds):
        multipliers = _multipliers(multipliers.edges, rates)
        least, size = least_with_multipliers(resource.demands, cheapest, costs, *multipliers, used)
        # Before the first edge and after the last the price is 0, so that nothing is paid there.
        paid = resource.capacity * float(multipliers.upto[-1])
        yield _safe(least - paid, size + paid), multipliers
        # The subgradient, as a share of what the piece offers.
        over = used / (resource.capacity * lengths) - 1
        if by_factors:
            # One overfull piece must not drive its multiplier out of range in a single step.
            over = np.clip(over, -1, 1)
            squares += over * over
            rates = np.maximum(rates, least_rate) * of_each(exp, over / np.sqrt(squares))
        else:
            squares += over * over
            rates = np.maximum(rates + steps * over / np.sqrt(squares), 0.0)


def _ratio_bound(trace: Trace, linearised: LinearisedObjective, starts: IntArray) -> Bound:
    """Return the largest Dinkelbach parameter found at which no plan costs less than 0.

    A ratio of sums of a plan is below λ just where the plan costs less than 0 at λ.
    """
    value = trace.measure(starts)
    if value is None:
        return Bound(0.0, "each job by itself")

    def holds(dinkelbach_parameter: float) -> bool:
        _, least = least_of_each(linearised_at(linearised, dinkelbach_parameter).costs)
        return _safe(float(least.sum()), float(np.abs(least).sum())) >= 0

    best = low = _largest(0.0, value, 60, holds)
    for resource in _resources(trace):
        best = max(best, _level_with_multipliers(trace, linearised, starts, resource, (low, value)))
    return Bound(best, "multipliers of time" if best > low else "each job by itself")


def _level_with_multipliers(
    trace: Trace,
    linearised: LinearisedObjective,
    starts: IntArray,
    resource: _Resource,
    between: tuple[float, float],
) -> float:
    """Return the largest lower bound found, from the first to the second value.

    Good multipliers are looked for at the first, where each job by itself costs 0, and kept for the
    rest.
    """
    low, high = between
    costs = linearised_at(linearised, low).costs
    first = _multipliers_around(trace, resource, costs, starts)
    if first is None:
        return low
    cheapest, _ = least_of_each(costs)
    _, multipliers = max(
        _lagrangian_bounds(resource, costs, cheapest, first, ROUNDS // 2), key=itemgetter(0)
    )

    def holds(dinkelbach_parameter: float) -> bool:
        costs = linearised_at(linearised, dinkelbach_parameter).costs
        cheapest, _ = least_of_each(costs)
        cost, _ = next(_lagrangian_bounds(resource, costs, cheapest, multipliers, 1))
        return cost >= 0

    return _largest(low, high, LEVELS, holds)


def _largest(low: float, high: float, rounds: int, holds: Callable[[float], bool]) -> float:
    """Return the largest value found, by bisection, at which a condition holds, as at `low`."""
    for _ in range(rounds):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _multipliers_around(
    trace: Trace, resource: _Resource, costs: StartTimeCosts, starts: IntArray
) -> Multipliers | None:
    """Return multipliers for a curved cost: those for its slopes at a known plan's starts."""
    now, later = np.empty(trace.job_count), np.empty(trace.job_count)
    find_costs(costs, starts, now)
    find_costs(costs, starts + 1, later)
    slopes = later - now
    # Mean busy times take positive weights: a job that gets cheaper by waiting is left out.
    some = (slopes > 0) & (resource.demands > 0)
    if not some.any():
        return None
    areas = (resource.demands * costs.run_times)[some]
    best = mean_busy_times(costs.submit[some], areas, slopes[some], resource.capacity)
    return _initial_multipliers(trace, best, starts)
