"""Histograms by logarithm, and numbers drawn from them."""

import math
from collections import Counter

import pytest

from hpcsched.workload.synthetic.draws import PER_DECADE, Draws, LogHistogram, bin_of


def test_bins():
    """24 a decade; zero has one of its own, below all others."""
    assert [bin_of(x) for x in (1.0, 10.5, 0.5)] == [0, 24, math.floor(24 * math.log10(0.5))]
    assert bin_of(0) < bin_of(5e-324)


def test_draws_are_like_what_was_counted():
    """A bin by its count, within four standard errors; within a bin the mean of the logarithm."""
    counted = LogHistogram()
    for number in [0.0] * 10 + [2.0] * 30 + [5e9] * 60:
        counted.add(number)
    assert counted.count == 100
    draws, resampled = Draws(3), counted.resampled()
    found = [resampled.draw(draws) for _ in range(10_000)]
    bins = Counter(map(bin_of, found))
    for number, share in ((0.0, 0.1), (2.0, 0.3), (5e9, 0.6)):
        error = math.sqrt(share * (1 - share) / 10_000)
        assert abs(bins[bin_of(number)] / 10_000 - share) < 4 * error
    assert sum(bins.values()) == sum(bins[bin_of(number)] for number in (0.0, 2.0, 5e9))
    places = [math.log10(x) * PER_DECADE % 1 for x in found if x > 1e9]
    mean = math.fsum(places) / len(places)
    assert mean == pytest.approx(0.5, abs=4 / math.sqrt(12 * len(places)))


def test_nothing_to_draw_from():
    """It is refused."""
    with pytest.raises(ValueError, match="expected a weight"):
        LogHistogram().resampled()
