"""Metrics against their formulas in exact fractions, on generated jobs."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.metrics.capacity import loss_of_capacity, makespan, utilization
from hpcsched.metrics.job_metrics import (
    area_weighted_response_time,
    mean_bounded_slowdown,
    mean_response_time,
    mean_slowdown,
    mean_wait_time,
    power_difference,
    specific_response_time,
)
from hpcsched.metrics.metric import RunTables
from tests.metrics.tables import RAN, Ran, jobs_table, rounds_table
from tests.strategies import tries


def mean(values: list[Fraction]) -> Fraction | None:
    """Return the exact mean; None of nothing."""
    return sum(values) / len(values) if values else None


def agree(found: float | None, exact: Fraction | int | None, tolerance: float = 1e-15) -> bool:
    """Return whether a float is within a relative tolerance of an exact value."""
    if exact is None or found is None:
        return exact is None and found is None
    return abs(Fraction(found) - exact) <= Fraction(tolerance) * abs(exact)


@tries(60)
@given(RAN)
def test_times(jobs: list[Ran]) -> None:
    """Wait and response times are exact up to one rounding."""
    table = jobs_table(jobs)
    assert agree(mean_wait_time(table), mean([Fraction(j.wait) for j in jobs]))
    assert agree(mean_response_time(table), mean([Fraction(j.response) for j in jobs]))


@tries(60)
@given(RAN, st.integers(1, 100))
def test_slowdowns(jobs: list[Ran], tau: int) -> None:
    """Slowdown leaves out jobs of no run time; bounded slowdown takes all."""
    table = jobs_table(jobs)
    slowdowns = [Fraction(j.response, j.run_time) for j in jobs if j.run_time]
    bounded = [max(Fraction(1), Fraction(j.response, max(j.run_time, tau))) for j in jobs]
    assert agree(mean_slowdown(table), mean(slowdowns))
    assert agree(mean_bounded_slowdown(table, tau), mean(bounded))


@tries(60)
@given(RAN)
def test_area_weighted_response_time(jobs: list[Ran]) -> None:
    """AWF is equation (5)."""
    areas = [j.units * j.run_time for j in jobs]
    weighted = sum(a * j.response for a, j in zip(areas, jobs, strict=True))
    exact = Fraction(weighted, sum(areas)) if sum(areas) else None
    assert agree(area_weighted_response_time(jobs_table(jobs)), exact)


def exact_psf(jobs: list[Ran], alpha: int) -> Fraction | None:
    """Return equation (6), exactly."""
    upper, lower = (
        sum(j.units * (j.response**power - j.wait**power) for j in jobs)
        for power in (alpha + 2, alpha + 1)
    )
    return Fraction(alpha + 1, alpha + 2) * Fraction(upper, lower) if lower else None


@tries(60)
@given(RAN, st.integers(0, 10))
def test_specific_response_time(jobs: list[Ran], alpha: int) -> None:
    """PαSF is equation (6) to the stated accuracy, also after waits that dwarf the run time."""
    assert agree(specific_response_time(jobs_table(jobs), alpha), exact_psf(jobs, alpha), 1e-14)


@pytest.mark.parametrize("alpha", [0.5, 1.5, 2.5])
def test_specific_response_time_between_whole_alphas(alpha: float) -> None:
    """A fractional α of jobs that never waited has a closed form; a long wait does not cancel."""
    run_time = 1000
    ratio = (alpha + 1) / (alpha + 2)
    table = jobs_table([Ran(0, 0, run_time, 3), Ran(5, 0, run_time, 7)])
    assert specific_response_time(table, alpha) == pytest.approx(ratio * run_time, rel=1e-13)
    # For D ≪ Q the formula tends to the response time itself.
    long_wait = jobs_table([Ran(0, 10**9, 1, 1)])
    assert specific_response_time(long_wait, alpha) == pytest.approx(10**9 + 0.5, rel=1e-12)


def test_power_difference_by_hand() -> None:
    """4^1.5 − 3^1.5 = 8 − 3·√3; a job of no length adds nothing, one that never waited D^1.5."""
    found = power_difference(np.array([3.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0]), 1.5)
    assert found.tolist() == pytest.approx([8 - 3 * 3**0.5, 0, 1], rel=1e-14)


@tries(60)
@given(RAN)
def test_utilization_and_makespan(jobs: list[Ran]) -> None:
    """The makespan is exact, and utilization is busy over all core seconds within it."""
    run = RunTables(jobs_table(jobs), rounds_table([]), {"core": 7, "gpu": 0})
    length = None
    if jobs:
        length = max(j.submit + j.response for j in jobs) - min(j.submit for j in jobs)
    exact = Fraction(sum(j.units * j.run_time for j in jobs), 7 * length) if length else None
    assert makespan(run.jobs) == length
    assert agree(utilization(run), exact)


@tries(60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=8),
    st.integers(1, 9),
)
def test_loss_of_capacity(steps: list[tuple[int, int, int]], batch: int) -> None:
    """What waits and what is free after a round holds until the next, whatever the batches."""
    rounds, now = [], 0
    for step, waiting, free in steps:
        now += step
        rounds.append((now, waiting, free))
    lost = sum(
        min(waiting, free) * (then - now) for (now, waiting, free), (then, _, _) in pairwise(rounds)
    )
    run = RunTables(jobs_table([Ran(0, 0, 100, 1)]), rounds_table(rounds, batch), {"core": 5})
    assert agree(loss_of_capacity(run), Fraction(lost, 5 * 100))


@tries(40)
@given(RAN, st.permutations(range(1, 14)))
def test_batches_do_not_matter(jobs: list[Ran], sizes: list[int]) -> None:
    """Every metric is the same to the last bit for every batch size."""
    measures = [
        mean_wait_time,
        AF().measure,
        AWF().measure,
        PSF(2).measure,
        PSF(1.5).measure,
        Slowdown().measure,
        BoundedSlowdown(10).measure,
        Makespan().measure,
        lambda table: utilization(RunTables(table, rounds_table([]), {"core": 3})),
    ]
    for measure in measures:
        assert len({measure(jobs_table(jobs, size)) for size in sizes}) == 1
