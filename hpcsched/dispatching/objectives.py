"""Built-in metrics and objectives: unit, population and parameters of each.

A metric that can be planned for is an objective as well. Those that are linear in start times are
planned for by the sum over the jobs of a plan, with predicted run times, where the metric is a
mean. PαSF is a ratio of sums, which planners minimise with Dinkelbach's method. A weighted sum is
available to planners if all of its terms are. `summary.json` has the metrics in the order in which
they stand here.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field

from hpcsched._core import Weight
from hpcsched.dispatching.planned_cost import (
    CostTerm,
    CostTerms,
    FloatArray,
    Plannable,
    PlannedCost,
    SpecificCost,
    cost_of_term,
    cost_terms_of,
    planned_cost_of,
    run_times,
    wait_times,
    weighted_sum,
)
from hpcsched.dispatching.problem import Objective, WaitingJob
from hpcsched.metrics import capacity, job_metrics
from hpcsched.metrics.metric import Table
from hpcsched.parameters import Listed, Params, PositiveDuration, Selects
from hpcsched.registration import Context, builtin
from hpcsched.system.system import IntArray

SECONDS = "s"
RATIO = ""
ALL = "all jobs that ran"
WINDOW = f"{ALL}, first submission to last end"


class TauParams(Params):
    """Parameters of a bounded slowdown: the lower bound of run times."""

    tau: PositiveDuration = 10
    """Minimum run time in the denominator, in seconds."""


class AlphaParams(Params):
    """Parameters of a priority-weighted specific response time: its exponent."""

    alpha: float = Field(2.0, ge=0, le=10)
    """Exponent of the response time (no unit): with a higher one, long response times count
    more."""


@dataclass(frozen=True)
class _OfJobs:
    """A figure of all jobs that ran, in seconds; another unit or population is declared."""

    unit: ClassVar[str] = SECONDS
    population: ClassVar[str] = ALL


@dataclass(frozen=True)
class _OfTerm(_OfJobs, ABC):
    """A figure that is one term of the core."""

    @property
    @abstractmethod
    def cost_term(self) -> CostTerm:
        """The term."""

    @property
    def cost_terms(self) -> CostTerms:
        """The objective in the form of the core."""
        return CostTerms((self.cost_term,))

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the sum of the jobs' shares of the figure."""
        return cost_of_term(self.cost_term, jobs, now)


@builtin(
    ("objective", "metric"),
    "mean_bounded_slowdown",
    TauParams,
    aliases=("bounded_slowdown", "bsld"),
)
@dataclass(frozen=True)
class BoundedSlowdown(_OfTerm):
    """Metric: mean bounded slowdown: max(1, response time / max(run time, tau)).

    `tau` is the least run time in the denominator, in seconds.
    """

    unit: ClassVar[str] = RATIO

    tau: int = 10

    @classmethod
    def build(cls, params: TauParams, _context: Context) -> Self:
        """Create the objective from its parameters."""
        return cls(params.tau)

    def measure(self, jobs: Table) -> float | None:
        """Return the mean bounded slowdown."""
        return job_metrics.mean_bounded_slowdown(jobs, self.tau)

    @property
    def cost_term(self) -> CostTerm:
        """The wait over the run time."""
        return CostTerm(Weight.RUN_TIME, tau=self.tau)


@builtin(("objective", "metric"), "mean_slowdown", aliases=("slowdown",))
class Slowdown(_OfTerm):
    """Metric: mean slowdown: response time / run time.

    It is over jobs that ran for at least one second.
    """

    unit = RATIO
    population = "jobs that ran for at least 1 s"
    measure = staticmethod(job_metrics.mean_slowdown)
    # Galleguillos et al., CP 2021, section 2.2.
    cost_term = CostTerm(Weight.RUN_TIME)


@builtin(("objective", "metric"), "mean_wait_time", aliases=("wait_time",))
class WaitTime(_OfTerm):
    """Metric: mean wait time.

    A plan that minimises it also minimises the mean response time.
    """

    measure = staticmethod(job_metrics.mean_wait_time)
    cost_term = CostTerm(Weight.NONE)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the sum of wait times."""
        cost = super().planned_cost(jobs, now)
        return cost._replace(constant=cost.constant - float(run_times(jobs).sum()))


@builtin(("objective", "metric"), "mean_response_time", aliases=("af",))
class AF(_OfTerm):
    """Metric: mean response time (AF)."""

    measure = staticmethod(job_metrics.mean_response_time)
    cost_term = CostTerm(Weight.NONE)


@builtin(("objective", "metric"), "area_weighted_response_time", aliases=("awf",))
class AWF(_OfTerm):
    """Metric: mean response time weighted by area (AWF)."""

    measure = staticmethod(job_metrics.area_weighted_response_time)
    cost_term = CostTerm(Weight.AREA)


@builtin(("objective", "metric"), "p2sf", AlphaParams, aliases=("psf",))
@dataclass(frozen=True)
class PSF(_OfJobs):
    """Metric: priority-weighted specific response time (PαSF).

    `alpha` is 2 in the paper's P²SF.
    """

    alpha: float = 2

    @classmethod
    def build(cls, params: AlphaParams, _context: Context) -> Self:
        """Create the objective from its parameters."""
        return cls(params.alpha)

    def measure(self, jobs: Table) -> float | None:
        """Return PαSF."""
        return job_metrics.specific_response_time(jobs, self.alpha)

    @property
    def cost_terms(self) -> CostTerms:
        """The objective in the form of the core."""
        return CostTerms(alpha=self.alpha)

    def planned_ratio(
        self, jobs: Sequence[WaitingJob], now: int, dinkelbach_parameter: float
    ) -> PlannedCost:
        """Return the linearised cost: the numerator less the parameter times the denominator."""
        amounts = np.array([float(job.demand) for job in jobs])
        specific = SpecificCost(
            self.alpha, dinkelbach_parameter, amounts, wait_times(jobs, now).astype(float)
        )
        return PlannedCost(*_no_terms(jobs), specific=specific)


@builtin("metric", "utilization")
class Utilization:
    """Metric: share of the busiest resource type in use."""

    unit = RATIO
    population = WINDOW
    measure = staticmethod(capacity.utilization)


@builtin(("objective", "metric"), "makespan")
class Makespan(_OfJobs):
    """Metric: last end less first submission."""

    population = WINDOW
    measure = staticmethod(capacity.makespan)
    cost_terms = CostTerms(makespan=1.0)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the last planned end, in seconds from now."""
        return PlannedCost(*_no_terms(jobs), makespan=1.0)


@builtin("metric", "loss_of_capacity")
class LossOfCapacity:
    """Metric: share of the busiest resource type that waiting jobs could have used."""

    unit = RATIO
    population = f"{WINDOW}; all jobs while they waited"
    measure = staticmethod(capacity.loss_of_capacity)


class Term(Params):
    """Term of a weighted sum: an objective and its weight."""

    objective: Annotated[Any, Selects("objective")]
    """The objective, in its own unit."""
    weight: float = Field(1, gt=0)
    """Weight of its value."""


class WeightedSumParams(Params):
    """Parameters of a weighted sum: its terms."""

    terms: Annotated[tuple[Term, ...], Listed] = Field(min_length=1)
    """Objectives to add up, each with its weight."""


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Weighted sum of `K` objectives, each with its factor."""

    objectives: tuple[Objective, ...]
    weights: tuple[float, ...]

    def measure(self, jobs: Table) -> float | None:
        """Return the weighted sum; None if one of the objectives has no value."""
        values = [objective.measure(jobs) for objective in self.objectives]
        # A value of None is no 0: the sum would look better without completed jobs.
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return sum(weight * value for weight, value in zip(self.weights, known, strict=True))


@dataclass(frozen=True, slots=True)
class PlannableWeightedSum(WeightedSum):
    """Weighted sum of objectives that are all available to planners."""

    @property
    def cost_terms(self) -> CostTerms | None:
        """The objective in the form of the core; None if it does not know one of the terms."""
        known = [cost_terms_of(objective) for objective in self.objectives]
        parts = [part for part in known if part is not None and part.alpha is None]
        if len(parts) < len(known):
            return None
        weighed = list(zip(self.weights, parts, strict=True))
        return CostTerms(
            tuple(
                term._replace(factor=term.factor * weight)
                for weight, part in weighed
                for term in part.terms
            ),
            sum(weight * part.makespan for weight, part in weighed),
        )

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the weighted sum of the objectives' costs over the planned jobs."""
        costs = [
            planned_cost_of(objective, jobs, now)
            for objective in self.objectives
            if isinstance(objective, Plannable)
        ]
        return weighted_sum(self.weights, costs)


def _no_terms(jobs: Sequence[WaitingJob]) -> tuple[FloatArray, IntArray]:
    return np.zeros((0, len(jobs))), np.zeros((0, len(jobs)), dtype=np.int64)


@builtin("objective", "weighted_sum", WeightedSumParams)
def make_weighted_sum(params: WeightedSumParams, context: Context) -> WeightedSum:
    """Return an objective: objectives added up, each with its weight.

    It is available to planners if all of its terms are.
    """
    objectives = tuple(context.make("objective", term.objective) for term in params.terms)
    plannable = all(isinstance(objective, Plannable) for objective in objectives)
    # Two classes, since `Plannable` is checked by the presence of the method.
    made = PlannableWeightedSum if plannable else WeightedSum
    return made(objectives, tuple(term.weight for term in params.terms))
