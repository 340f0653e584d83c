"""Figures of a trace that was planned at once, by hand."""

import pytest

from hpcsched.dispatching.offline.offline_problem import OfflinePlan
from hpcsched.runs.summary import offline_figures


def plan(lower_bound: float | None) -> OfflinePlan:
    """Return a plan of one job with a lower bound."""
    return OfflinePlan({1: 0}, {}, lower_bound, "a proof")


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [
        (125.0, 100.0, 0.2),
        (100.0, 100.0, 0.0),
        # An objective of 0 that is proved optimal.
        (0.0, 0.0, 0.0),
        # Below 0 the gap is a share of the size: 10 of 40.
        (-40.0, -50.0, 0.25),
        (None, 100.0, None),
        (100.0, None, None),
    ],
)
def test_gaps(value: float | None, bound: float | None, gap: float | None) -> None:
    """The gap is the largest possible improvement, as a share of the value."""
    assert offline_figures(plan(bound), value)["gap"] == gap


def test_figures() -> None:
    """25 of 125 may be saved: nothing is proved."""
    assert offline_figures(plan(100.0), 125.0) == {
        "value": 125.0,
        "lower_bound": 100.0,
        "gap": 0.2,
        "proved": False,
        "bound_by": "a proof",
    }


@pytest.mark.parametrize(
    ("value", "bound", "proved", "kept"),
    [
        (1e6, 1e6, True, 1e6),
        # A millionth is proved, two are not.
        (1e6, 1e6 - 1, True, 1e6 - 1),
        (1e6, 1e6 - 2, False, 1e6 - 2),
        # A bound above the value by less than a billionth is rounding; by more it is shown.
        (1e6, 1e6 + 0.0005, True, 1e6),
        (1e6, 1e6 + 0.01, True, 1e6 + 0.01),
    ],
)
def test_proofs(value: float, bound: float, proved: bool, kept: float) -> None:
    """A plan is proved optimal within a millionth of its value."""
    figures = offline_figures(plan(bound), value)
    assert (figures["proved"], figures["lower_bound"]) == (proved, kept)


def test_without_a_bound_or_a_value() -> None:
    """There is no gap, and nothing is proved."""
    for figures in (offline_figures(plan(None), 5.0), offline_figures(plan(5.0), None)):
        assert figures["gap"] is figures["proved"] is None
