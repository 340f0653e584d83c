"""PαSF of plans against a sum of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.planned_cost import SpecificCost
from tests.strategies import tries

TIMES = st.integers(0, 10**7)
JOBS = st.lists(st.tuples(st.integers(1, 10**6), TIMES, TIMES, st.integers(1, 10**7)), min_size=1)


@tries(200)
@given(alpha=st.integers(0, 4), dinkelbach_parameter=st.floats(0, 1e6), jobs=JOBS)
def test_the_ratio_of_a_plan_is_that_of_exact_arithmetic(
    alpha: int, dinkelbach_parameter: float, jobs: list[tuple[int, int, int, int]]
) -> None:
    """Amounts, waits until now, starts and run times, summed job by job; λ is no part."""
    upper, lower = 0, 0
    for amount, wait, start, run_time in jobs:
        q, f = wait + start, wait + start + run_time
        upper += amount * (f ** (alpha + 2) - q ** (alpha + 2))
        lower += amount * (f ** (alpha + 1) - q ** (alpha + 1))
    exact = float(Fraction(alpha + 1, alpha + 2) * Fraction(upper, lower))
    amounts, waits, starts, run_times = (np.array(column) for column in zip(*jobs, strict=True))
    specific = SpecificCost(
        float(alpha), dinkelbach_parameter, amounts.astype(float), waits.astype(float)
    )
    assert specific.ratio(starts, run_times) == pytest.approx(exact, rel=1e-12)


def test_jobs_that_weigh_nothing() -> None:
    """Nothing over nothing is nothing."""
    specific = SpecificCost(2.0, 1.0, np.zeros(1), np.zeros(1))
    assert specific.ratio(np.array([3]), np.array([4])) == 0
