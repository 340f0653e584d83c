"""Start-time cost functions against exact arithmetic, and by hand."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import cost_at
from hpcsched.dispatching.planned_cost import PlannedCost, SpecificCost
from hpcsched.dispatching.planning.start_time_costs import least_of_each
from hpcsched.dispatching.search.order_search import search_costs
from tests.dispatching.cp.tiny import Size, tiny_data
from tests.dispatching.search.test_search_orders import costs
from tests.strategies import tries


@tries(100)
@given(
    alpha=st.integers(1, 3),
    dinkelbach_parameter=st.integers(0, 50),
    amount=st.integers(1, 9),
    wait=st.integers(0, 60),
    run_time=st.integers(1, 60),
    start=st.integers(0, 60),
)
def test_specific_cost_is_that_of_exact_arithmetic(
    alpha: int, dinkelbach_parameter: int, amount: int, wait: int, run_time: int, start: int
) -> None:
    """A job's share of PαSF's sums, linearised, as fractions say."""
    q, f = wait + start, wait + start + run_time
    upper = Fraction(alpha + 1, alpha + 2) * amount * (f ** (alpha + 2) - q ** (alpha + 2))
    lower = amount * (f ** (alpha + 1) - q ** (alpha + 1))
    exact = float(upper - dinkelbach_parameter * lower)
    specific = SpecificCost(
        float(alpha), float(dinkelbach_parameter), np.array([amount]), np.array([float(wait)])
    )
    cost = PlannedCost(np.zeros((0, 1)), np.zeros((0, 1), dtype=np.int64), specific=specific)
    run_times = np.array([run_time])
    scale = float(upper + dinkelbach_parameter * lower)
    assert cost.value(np.array([start]), run_times) == pytest.approx(exact, abs=1e-12 * scale)
    of_start = search_costs(cost, run_times)
    assert cost_at(of_start, 0, start) == pytest.approx(exact, abs=1e-12 * scale)
    sums = specific.sums(np.array([start]), run_times)
    assert sums == pytest.approx((float(upper), float(lower)), rel=1e-12)


@tries(60)
@given(drawn=st.data())
def test_least_cost_is_the_least_from_the_submission_on(drawn: Any) -> None:
    """No later start costs less than is said."""
    data = drawn.draw(tiny_data(Size(jobs=1)))
    cost = drawn.draw(costs(data))
    of_start = search_costs(cost, data.run_times)
    first = int(of_start.submit[0])
    every = [cost_at(of_start, 0, later) for later in range(first, first + 200)]
    starts, (least,) = least_of_each(of_start)
    assert cost_at(of_start, 0, int(starts[0])) == least
    assert least == pytest.approx(min(every), rel=1e-9, abs=1e-9)
