"""What a summary says of a trace that was planned at once."""

from typing import Any

from hpcsched.dispatching.offline.problem import OfflinePlan

PROVED = 1e-6
"""A plan is called the best there is if it is above its bound by no more than this share."""

ROUNDING = 1e-9
"""By which share a bound may come out above a value because numbers are rounded."""


def offline_figures(plan: OfflinePlan, value: float | None) -> dict[str, Any]:
    """Return how far the objective of a run that followed a plan may be from what is possible.

    `gap` is value less lower bound, as a share of the value; no schedule at all of these jobs is
    better by more. Bound, gap and proof are None where there is no bound or no value.
    """
    bound = plan.lower_bound
    if bound is not None and value is not None and value < bound <= value + ROUNDING * abs(value):
        bound = value
    gap = gap_of(value, bound)
    return {
        "value": value,
        "lower_bound": bound,
        "gap": gap,
        "proved": None if gap is None else gap <= PROVED,
        "bound_by": plan.bound_by,
        "method": plan.method,
        "work": plan.work,
        "solver": dict(sorted(plan.solver.items())),
    }


def gap_of(value: float | None, bound: float | None) -> float | None:
    """Return by which share of a value it is above a bound; None where one of them is None."""
    if value is None or bound is None:
        return None
    return (value - bound) / abs(value) if value != bound else 0.0
