"""Figures of a trace that was planned at once, for the summary."""

from typing import Any

from hpcsched.dispatching.offline.offline_problem import OfflinePlan

PROVED = 1e-6
"""Relative gap up to which a plan counts as proved optimal."""

ROUNDING = 1e-9
"""Relative excess of a bound over its value that is rounding."""


def offline_figures(plan: OfflinePlan, value: float | None) -> dict[str, Any]:
    """Return value, lower bound and gap of a run that followed an off-line plan.

    Parameters
    ----------
    value
        Objective of the run; None if it has none.

    Returns
    -------
    dict
        `gap` is (value − lower bound) / |value|: no schedule of these jobs is better by more.
        Bound, gap and proof are None without a bound or a value.
    """
    bound = plan.lower_bound
    if bound is not None and value is not None and value < bound <= value + ROUNDING * abs(value):
        # A proof of optimality must not fail by the last bit of a float.
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
    """Return (value − bound) / |value|; None where one of them is None."""
    if value is None or bound is None:
        return None
    return (value - bound) / abs(value) if value != bound else 0.0
