"""Intervals of means: what can be worked out by hand, and how often they hold the true mean."""

import numpy as np
import pytest

from hpcsched.metrics.column_sums import block_length, mean_interval, paired_interval


def test_the_mean_is_that_of_the_values() -> None:
    """The interval is around the mean of the values as they are."""
    interval = mean_interval(np.array([1.0, 2.0, 6.0]), block=1)
    assert interval is not None
    assert interval.mean == 3
    assert 1 <= interval.lower < 3 < interval.upper <= 6


def test_no_values_and_equal_ones() -> None:
    """Of nothing there is no interval; values that are all alike leave no doubt."""
    assert mean_interval(np.empty(0)) is None
    assert mean_interval(np.full(20, 7.0)) == (7, 7, 7)


def test_one_block_of_all_values_is_certain() -> None:
    """On a circle a block of all values holds each once, wherever it begins."""
    interval = mean_interval(np.array([1.0, 5.0, 9.0]), block=3)
    assert interval is not None
    assert interval == pytest.approx((5, 5, 5))


def test_two_values() -> None:
    """The means of two draws from 0 and 1 are 0, 1/2 or 1: the interval reaches from 0 to 1."""
    assert mean_interval(np.array([0.0, 1.0]), block=1) == (0.5, 0, 1)


def test_the_level_leaves_out_as_much_on_either_side() -> None:
    """Of those means a quarter is 0 and a quarter 1: three tenths from each end all are 1/2."""
    values = np.array([0.0, 1.0])
    assert mean_interval(values, block=1, level=0.4) == (0.5, 0.5, 0.5)
    assert mean_interval(values, block=1, level=0.6) == (0.5, 0, 1)


def test_one_resample() -> None:
    """One is enough for an interval, which then has no width; it is the mean of one draw."""
    interval = mean_interval(np.array([0.0, 1.0]), block=1, resamples=1)
    assert interval is not None
    assert interval.lower == interval.upper
    assert interval.lower in (0, 0.5, 1)


@pytest.mark.parametrize(
    ("count", "length"), [(0, 1), (1, 1), (2, 2), (4, 2), (5, 3), (100, 10), (101, 11)]
)
def test_block_length(count: int, length: int) -> None:
    """Blocks have the rounded-up root of the number of values."""
    assert block_length(count) == length


def test_equal_seeds_give_equal_intervals() -> None:
    """Nothing depends on chance but by the seed."""
    values = np.arange(50.0) ** 2
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values) != mean_interval(values, seed=1)


def coverage(rho: float, block: int | None, samples: int = 300, count: int = 200) -> float:
    """Return how often the interval holds 0, for series with a correlation of neighbours."""
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(samples):
        noise = generator.normal(size=count)
        series = np.empty(count)
        series[0] = noise[0] / np.sqrt(1 - rho**2)
        for k in range(1, count):
            series[k] = rho * series[k - 1] + noise[k]
        interval = mean_interval(series, block=block, resamples=400)
        assert interval is not None
        hits += interval.lower <= 0 <= interval.upper
    return hits / samples


def test_coverage_of_independent_values() -> None:
    """About 95 of 100 intervals hold the true mean; 300 samples tell to about 4 percent."""
    assert coverage(0, 1) == pytest.approx(0.94, abs=0.04)


def test_blocks_are_for_values_that_depend_on_their_neighbours() -> None:
    """Drawn one by one, such values give intervals that are far too narrow; in blocks, less so."""
    assert coverage(0.6, 1) < 0.75
    assert coverage(0.6, None) > 0.85


def test_sums_are_exact() -> None:
    """A block of all values holds each once: their mean is 1/3, whatever their sizes."""
    interval = mean_interval(np.array([1e16, 1.0, -1e16]), block=3)
    assert interval == (1 / 3, 1 / 3, 1 / 3)
    interval = mean_interval(np.array([2.0**60, 2.0**-40, -(2.0**60), -(2.0**-40)]), block=4)
    assert interval == (0, 0, 0)


def test_a_difference_that_is_rounding_is_none() -> None:
    """Three tenths are a tenth and two tenths, of each job and of all of them together."""
    tenths = np.full(50, 0.1)
    assert paired_interval(tenths + 0.2, np.full(50, 0.3)) == (0, 0, 0)
    together = paired_interval(np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.0, 0.3]), block=3)
    assert together == (0, 0, 0)
    # A second among jobs that wait for years is a difference.
    years = np.full(50, 2.0**32)
    assert paired_interval(years + 1, years) == (1, 1, 1)
    assert paired_interval(np.empty(0), np.empty(0)) is None
