"""Costs of plans: an objective as a function of the planned starts of one round."""

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hpcsched._core import Weight
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.errors import PluginError
from hpcsched.metrics.job_metrics import power_difference
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.system.system import IntArray

FloatArray = npt.NDArray[np.float64]


class SpecificCost(NamedTuple):
    """PαSF, a ratio of sums over jobs, linearised: `Σ upper[i] − λ · Σ lower[i]`.

    `upper[i]` = amounts[i] · (α+1)/(α+2) · (F^(α+2) − Q^(α+2)) and `lower[i]` = amounts[i] ·
    (F^(α+1) − Q^(α+1)), with Q = waits[i] + starts[i], the total wait of job `i`, and F its
    response time (Goponenko et al., DEBS 2024, equation (6)). Of two plans with a ratio near
    λ, the one that costs less has the lower ratio, and a plan of minimal cost at its own ratio has
    the minimal ratio (Dinkelbach, 1967).

    Attributes
    ----------
    dinkelbach_parameter
        λ, in seconds.
    amounts
        Demand of each job, `[J]`.
    waits
        Wait of each job until now, in seconds, `[J]`.
    """

    alpha: float
    dinkelbach_parameter: float
    amounts: FloatArray
    waits: FloatArray

    def sums(self, starts: IntArray, run_times: IntArray) -> tuple[float, float]:
        """Return numerator and denominator; starts and predicted run times in seconds, `[J]`."""
        a = self.alpha + 1
        wait = self.waits + starts
        times = run_times.astype(np.float64)
        upper = a / (a + 1) * float(self.amounts @ power_difference(wait, times, a + 1))
        return upper, float(self.amounts @ power_difference(wait, times, a))

    def ratio(self, starts: IntArray, run_times: IntArray) -> float:
        """Return PαSF of planned jobs, in seconds; 0 if the denominator is 0."""
        upper, lower = self.sums(starts, run_times)
        return upper / lower if lower else 0.0

    def value(self, starts: IntArray, run_times: IntArray) -> float:
        """Return the linearised cost."""
        upper, lower = self.sums(starts, run_times)
        return upper - self.dinkelbach_parameter * lower


class PlannedCost(NamedTuple):
    """`constant + Σ weights[t, i] · max(starts[i], free[t, i]) + makespan · last end + specific`.

    The sum is over `T` terms and `J` jobs; starts and ends are in seconds from now. Cost divided by
    `population` is the objective of the planned jobs, up to terms that no plan changes.

    Attributes
    ----------
    weights
        Cost per second of each term and job, `[T, J]`, not negative, so that an earlier start never
        costs more.
    free
        Start until which waiting costs a job nothing in a term, in seconds from now, `[T, J]`.
    makespan
        Cost per second of the last end, not negative.
    specific
        Linearised ratio of sums; None for all other objectives.
    population
        Number of jobs if the objective is a mean and the cost its sum; 1 if the cost is on the
        objective's own scale.
    """

    weights: FloatArray
    free: IntArray
    constant: float = 0.0
    makespan: float = 0.0
    specific: SpecificCost | None = None
    population: int = 1

    def in_order(self, jobs: IntArray) -> "PlannedCost":
        """Return the cost of the same jobs in another order, a permutation, `[J]`."""
        specific = self.specific
        if specific is not None:
            specific = specific._replace(amounts=specific.amounts[jobs], waits=specific.waits[jobs])
        weights, free = self.weights[:, jobs], self.free[:, jobs]
        return self._replace(weights=weights, free=free, specific=specific)

    def value(self, starts: IntArray, run_times: IntArray) -> float:
        """Return the cost of planned starts, with predicted run times, in seconds, `[J]`."""
        cost = self.constant + sum_of_products(self.weights, np.maximum(starts, self.free))
        # Without jobs there is no last end, and `max` of an empty array raises.
        if self.makespan and len(starts):
            cost += self.makespan * float((starts + run_times).max())
        return cost if self.specific is None else cost + self.specific.value(starts, run_times)


CostOf = Callable[[Sequence[WaitingJob], int], PlannedCost]
"""Function from jobs and the simulated time to the cost of their planned starts."""


def linear(
    weights: FloatArray | Sequence[float],
    free: IntArray | Sequence[int] | None = None,
    constant: float = 0.0,
) -> PlannedCost:
    """Return a cost of one linear term; `free` is 0 unless it is given, `[J]`."""
    slopes = np.asarray(weights)
    until = np.zeros(len(slopes), dtype=np.int64) if free is None else np.asarray(free)
    return PlannedCost(slopes[np.newaxis], until[np.newaxis], constant)


def weighted_sum(weights: Sequence[float], costs: Sequence[PlannedCost]) -> PlannedCost:
    """Return Σ weight · cost / population over costs of the same jobs.

    Raises
    ------
    ValueError
        A cost is a linearised ratio of sums (`specific`), which cannot be added up.
    """
    if any(cost.specific is not None for cost in costs):
        raise ValueError("a ratio of sums cannot be added up with other costs")
    scaled = [(weight / cost.population, cost) for weight, cost in zip(weights, costs, strict=True)]
    # Terms are kept apart and not added up, since their `free` times differ.
    return PlannedCost(
        np.concatenate([factor * cost.weights for factor, cost in scaled]),
        np.concatenate([cost.free for cost in costs]),
        sum(factor * cost.constant for factor, cost in scaled),
        sum(factor * cost.makespan for factor, cost in scaled),
    )


class CostTerm(NamedTuple):
    """A term of an objective that the core knows: factor · weight · wait, summed over jobs.

    Attributes
    ----------
    weight
        What a wait is weighed by; by area, weights are shares of all areas.
    tau
        Least response time, in seconds, for which waiting costs nothing, and least run time that
        is divided by.
    """

    weight: Weight
    factor: float = 1.0
    tau: int = 0


class CostTerms(NamedTuple):
    """An objective in the form that the core knows; see `SearchSettings`."""

    terms: tuple[CostTerm, ...] = ()
    makespan: float = 0.0
    alpha: float | None = None


def cost_terms_of(objective: object) -> CostTerms | None:
    """Return an objective in the form that the core knows; None if it is not known there."""
    # A third party's class may have a built-in one's attribute and another cost.
    terms = None if is_third_party(objective) else getattr(objective, "cost_terms", None)
    return terms if isinstance(terms, CostTerms) else None


def sum_of_products(weights: FloatArray, values: FloatArray | IntArray) -> float:
    """Return Σ weight · value, rounded once: a BLAS rounds otherwise on each kind of processor."""
    return math.fsum((weights * values).ravel().tolist())


def cost_of_term(term: CostTerm, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
    """Return the cost of planned starts in a term, by response times."""
    times, waits = run_times(jobs), wait_times(jobs, now)
    if term.weight == Weight.AREA:
        # Areas are Python integers without a bound, so each is converted by itself.
        weights = np.array([float(job.area) for job in jobs])
        weights /= math.fsum(weights.tolist()) or 1.0
    elif term.weight == Weight.RUN_TIME:
        weights = 1 / np.maximum(times, max(term.tau, 1))
    else:
        weights = np.ones(len(jobs))
    weights = weights * term.factor
    # At a start of `free` the response time is tau or, where that is more, the run time and the
    # wait so far.
    free = np.maximum(term.tau - times - waits, 0)
    cost = linear(weights, free, sum_of_products(weights, waits + times))
    return cost if term.weight == Weight.AREA else cost._replace(population=max(len(jobs), 1))


# Checked by method, so that objectives of plugins need no base class.
@runtime_checkable
class Plannable(Protocol):
    """Protocol of an objective that planners can minimise."""

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost of planned starts of the jobs, in the objective's own unit.

        Parameters
        ----------
        jobs
            Jobs to plan, `[J]`.
        now
            Simulated time, in seconds.
        """


@runtime_checkable
class PlannableRatio(Protocol):
    """Protocol of an objective that is a ratio of sums, which planners minimise linearised."""

    def planned_ratio(
        self, jobs: Sequence[WaitingJob], now: int, dinkelbach_parameter: float
    ) -> PlannedCost:
        """Return the cost of planned starts of the jobs for a ratio near `dinkelbach_parameter`.

        Parameters
        ----------
        jobs
            Jobs to plan, `[J]`.
        now
            Simulated time, in seconds.
        dinkelbach_parameter
            Dinkelbach parameter, in the objective's unit.
        """


def planned_cost_of(objective: Plannable, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
    """Return the cost of planned starts in an objective.

    Raises
    ------
    PluginError
        If the objective is a third party's plugin, and its cost is not one of these jobs.
    """
    return _checked(objective, objective.planned_cost(jobs, now), len(jobs))


def planned_ratio_of(
    objective: PlannableRatio, jobs: Sequence[WaitingJob], now: int, dinkelbach_parameter: float
) -> PlannedCost:
    """Return the linearised cost of planned starts in a ratio; as `planned_cost_of`."""
    cost = objective.planned_ratio(jobs, now, dinkelbach_parameter)
    return _checked(objective, cost, len(jobs))


def _checked(objective: object, cost: PlannedCost, count: int) -> PlannedCost:
    if is_third_party(objective) and (fault := cost_fault(cost, count)) is not None:
        raise PluginError(f"{named('objective', objective)}: {fault}")
    return cost


def cost_fault(cost: object, count: int) -> str | None:
    """Return why a value is no cost of the planned starts of `count` jobs; None if it is one."""
    if not isinstance(cost, PlannedCost):
        return f"expected a PlannedCost, found {cost!r}"
    # Lazily: the first fault makes later checks meaningless.
    return next(_faults(cost, count), None)


def _faults(cost: PlannedCost, count: int) -> Iterator[str]:
    for name, kinds, numbers in (("weights", "iuf", "numbers"), ("free", "iu", "whole numbers")):
        array = getattr(cost, name)
        shape = array.shape if isinstance(array, np.ndarray) else type(array).__name__
        if len(shape) != 2 or shape[1] != count:
            yield f"expected {name} of shape (terms, {count} jobs), found {shape}"
        elif array.dtype.kind not in kinds:
            yield f"expected {name} that are {numbers}, found those of type {array.dtype}"
    if cost.weights.shape != cost.free.shape:
        shapes = f"{cost.weights.shape} and {cost.free.shape}"
        yield f"expected weights and free of one shape, found {shapes}"
    wrong = cost.weights[~(np.isfinite(cost.weights) & (cost.weights >= 0))]
    if len(wrong):
        yield f"expected weights that are finite and not negative, found {wrong[0]}"
    for name, value in (("constant", cost.constant), ("makespan", cost.makespan)):
        if not isinstance(value, Real) or not np.isfinite(value):
            yield f"expected a finite number as {name}, found {value!r}"
    if cost.makespan < 0:
        yield f"expected a makespan that is not negative, found {cost.makespan}"
    if not isinstance(cost.population, Integral) or cost.population < 1:
        yield f"expected a population of at least 1, found {cost.population!r}"
    if cost.specific is not None and not isinstance(cost.specific, SpecificCost):
        yield f"expected a SpecificCost or None as specific, found {cost.specific!r}"


def wait_times(jobs: Sequence[WaitingJob], now: int) -> IntArray:
    """Return the jobs' wait times until now, `[J]`, in seconds."""
    return np.array([now - job.submit_time for job in jobs], dtype=np.int64)


def run_times(jobs: Sequence[WaitingJob]) -> IntArray:
    """Return the jobs' predicted run times, `[J]`, in seconds."""
    return np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
