"""Curves of whole numbers, against values start by start and against the shares themselves."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.planned_cost import PlannedCost, SpecificCost
from hpcsched.dispatching.planning.start_time_costs import (
    FEW_STARTS,
    PIECES,
    SpecificCostFunctions,
    StartCostFunction,
)
from tests.strategies import tries


@st.composite
def curves(draw: Any) -> StartCostFunction:
    """Draw a curve of any form."""
    at, cost = [0], [draw(st.integers(-9, 9))]
    for _ in range(draw(st.integers(0, 5))):
        length, slope = draw(st.integers(1, 5)), draw(st.integers(-6, 6))
        at.append(at[-1] + length)
        cost.append(cost[-1] + length * slope)
    return StartCostFunction(tuple(at), tuple(cost))


@tries(200)
@given(curve=curves(), drawn=st.data())
def test_a_curve_is_linear_between_breakpoints(curve: StartCostFunction, drawn: Any) -> None:
    """Values, the least of them, the last start within a limit, and the curve cut at a start."""
    starts = range(curve.at[-1] + 1)
    values = [curve.value(start) for start in starts]
    assert values == [round(v) for v in np.interp(starts, curve.at, curve.cost).tolist()]
    assert curve.least == min(values)
    limit = drawn.draw(st.integers(-60, 60))
    within = [start for start in starts if values[start] <= limit]
    assert curve.latest(limit) == max(within, default=0)
    latest = drawn.draw(st.sampled_from(starts))
    cut = curve.until(latest)
    assert cut.at[-1] == latest
    assert [cut.value(start) for start in starts[: latest + 1]] == values[: latest + 1]


@st.composite
def shares(draw: Any) -> tuple[SpecificCost, Any]:
    """Draw a job's share of PαSF, and its run time."""
    specific = SpecificCost(
        draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0])),
        draw(st.sampled_from([0.0, 7.0, 300.5, 20_000.0])),
        np.array([float(draw(st.integers(0, 9)))]),
        np.array([float(draw(st.integers(0, 30_000)))]),
    )
    return specific, np.array([draw(st.integers(1, 50_000))])


def values_of(specific: SpecificCost, run_times: Any, starts: Any) -> Any:
    """Return what one job costs at each start, by the cost itself."""
    cost = PlannedCost(np.zeros((0, 1)), np.zeros((0, 1), dtype=np.int64), specific=specific)
    return np.array([cost.value(np.array([start]), run_times) for start in starts])


@tries(150)
@given(share=shares(), latest=st.integers(0, 3000))
def test_pieces_are_close(share: Any, latest: int) -> None:
    """By at most a quarter is a start favoured; every start is kept where there are few."""
    specific, run_times = share
    (shape,) = SpecificCostFunctions(specific, run_times).shapes(np.array([latest]))
    assert shape.at[0] == 0
    assert shape.at[-1] == latest
    assert len(shape.at) <= (FEW_STARTS if latest <= FEW_STARTS else PIECES) + 1
    starts = np.unique(np.append(np.linspace(0, latest, 400).astype(int), shape.at))
    exact = values_of(specific, run_times, starts)
    rises = (shape.slopes * np.diff(shape.at)).cumsum()
    pieces = np.interp(starts, shape.at, np.concatenate(([0.0], rises)))
    apart = exact - pieces
    rounding = 1e-9 * float(np.abs(exact).max())
    allowed = 0.25 * (exact.max() - exact.min()) if latest > FEW_STARTS else 0
    assert apart.max() - apart.min() <= allowed + rounding


@tries(100)
@given(share=shares(), bits=st.integers(0, 50))
def test_rounding_keeps_the_form(share: Any, bits: int) -> None:
    """Whole slopes stay in order, and each is off by at most one half."""
    specific, run_times = share
    (shape,) = SpecificCostFunctions(specific, run_times).shapes(np.array([2000]))
    scale = 2.0**bits / max(shape.reach, 1.0)
    curve = shape.rounded(scale)
    ascending = np.diff(shape.slopes) >= 0
    assert (np.diff(np.array(curve.slopes, dtype=float))[ascending] >= 0).all()
    rises = (shape.slopes * np.diff(shape.at)).cumsum()
    apart = np.array(curve.cost) / scale - np.concatenate(([0.0], rises))
    assert apart.max() - apart.min() <= 1000 / scale + 1e-9 * float(np.abs(rises).max())


@tries(100)
@given(share=shares())
def test_from_its_turn_on_a_job_costs_no_less_by_waiting(share: Any) -> None:
    """No start costs less than the turn or the second before, and later ones cost ever more."""
    specific, run_times = share
    (turn,) = SpecificCostFunctions(specific, run_times).turns().tolist()
    around = range(max(turn - 300, 0), turn + 300)
    values = values_of(specific, run_times, around)
    rounding = 1e-9 * float(np.abs(values).max())
    at = turn - around[0]
    assert values[max(at - 1, 0) : at + 1].min() <= values.min() + rounding
    assert (np.diff(values[at:]) >= -rounding).all()


def test_the_longest_jobs_and_the_largest_amounts() -> None:
    """Waits and run times of 2³¹ seconds and a million units still make finite curves."""
    long = float(1 << 31)
    specific = SpecificCost(10.0, long, np.array([1e6, 1.0]), np.array([long, 0.0]))
    run_times = np.array([1 << 31, 1])
    made = SpecificCostFunctions(specific, run_times)
    shapes = made.shapes(np.array([1 << 31, 1 << 31]))
    assert all(np.isfinite(shape.slopes).all() for shape in shapes)
    scale = 2.0**50 / sum(shape.reach for shape in shapes)
    for shape in shapes:
        curve = shape.rounded(scale)
        assert max(map(abs, curve.cost)) <= 2**50 + 2**32
        assert curve.at[-1] == 1 << 31
    assert shapes[0].slopes == pytest.approx(np.sort(shapes[0].slopes))  # it can only get dearer
