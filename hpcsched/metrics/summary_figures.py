"""Built-in metrics as plugins: unit, population, parameters and factory of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hpcsched.metrics.capacity import loss_of_capacity, makespan, utilization
from hpcsched.metrics.metric import RunTables
from hpcsched.metrics.response_times import (
    area_weighted_response_time,
    mean_response_time,
    mean_wait_time,
    specific_response_time,
)
from hpcsched.metrics.slowdown import mean_bounded_slowdown, mean_slowdown
from hpcsched.parameters import Params, PositiveDuration
from hpcsched.registration import builtin

SECONDS = "s"
RATIO = ""
ALL = "all jobs that ran"
WINDOW = f"{ALL}, first submission to last end"

Tau = Annotated[
    PositiveDuration,
    Field(description="Minimum run time in the denominator, in seconds."),
]
Alpha = Annotated[
    float,
    Field(
        ge=0,
        le=10,
        description="Exponent of the response time (no unit): with a higher one,"
        " long response times count more.",
    ),
]


class TauParams(Params):
    """Parameters of a bounded slowdown: the lower bound of run times."""

    tau: Tau = 10


class AlphaParams(Params):
    """Parameters of a priority-weighted specific response time: its exponent."""

    alpha: Alpha = 2.0


@dataclass(frozen=True, slots=True)
class Figure:
    """Metric made of a function over a run.

    Attributes
    ----------
    unit
        Unit of the value; empty for a ratio.
    function
        Computes the value; None where the population is empty.
    """

    unit: str
    population: str
    function: Callable[[RunTables], float | None]

    def measure(self, run: RunTables) -> float | None:
        """Return the value for a run; None where the population is empty."""
        return self.function(run)


@builtin(
    "metric",
    "mean_bounded_slowdown",
    TauParams,
    summary="mean of max(1, response time / max(run time, tau))",
)
def make_mean_bounded_slowdown(params: TauParams, _context: object) -> Figure:
    """Return the metric `mean_bounded_slowdown`."""
    return Figure(RATIO, ALL, lambda run: mean_bounded_slowdown(run.jobs, params.tau))


@builtin("metric", "mean_slowdown", summary="mean of response time / run time")
def make_mean_slowdown(_params: Params, _context: object) -> Figure:
    """Return the metric `mean_slowdown`."""
    population = "jobs that ran for at least 1 s"
    return Figure(RATIO, population, lambda run: mean_slowdown(run.jobs))


@builtin("metric", "mean_wait_time", summary="mean wait time")
def make_mean_wait_time(_params: Params, _context: object) -> Figure:
    """Return the metric `mean_wait_time`."""
    return Figure(SECONDS, ALL, lambda run: mean_wait_time(run.jobs))


@builtin("metric", "mean_response_time", summary="mean response time (AF)")
def make_mean_response_time(_params: Params, _context: object) -> Figure:
    """Return the metric `mean_response_time`."""
    return Figure(SECONDS, ALL, lambda run: mean_response_time(run.jobs))


@builtin(
    "metric", "area_weighted_response_time", summary="mean response time weighted by area (AWF)"
)
def make_area_weighted_response_time(_params: Params, _context: object) -> Figure:
    """Return the metric `area_weighted_response_time`."""
    return Figure(SECONDS, ALL, lambda run: area_weighted_response_time(run.jobs))


@builtin("metric", "p2sf", AlphaParams, summary="priority-weighted specific response time (PαSF)")
def make_p2sf(params: AlphaParams, _context: object) -> Figure:
    """Return the metric `p2sf`."""
    return Figure(SECONDS, ALL, lambda run: specific_response_time(run.jobs, params.alpha))


@builtin("metric", "utilization", summary="share of the busiest resource type in use")
def make_utilization(_params: Params, _context: object) -> Figure:
    """Return the metric `utilization`."""
    return Figure(RATIO, WINDOW, utilization)


@builtin("metric", "makespan", summary="last end less first submission")
def make_makespan(_params: Params, _context: object) -> Figure:
    """Return the metric `makespan`."""
    return Figure(SECONDS, WINDOW, lambda run: makespan(run.jobs))


@builtin(
    "metric",
    "loss_of_capacity",
    summary="share of the busiest resource type that waiting jobs could have used",
)
def make_loss_of_capacity(_params: Params, _context: object) -> Figure:
    """Return the metric `loss_of_capacity`."""
    population = f"{WINDOW}; all jobs while they waited"
    return Figure(RATIO, population, loss_of_capacity)
