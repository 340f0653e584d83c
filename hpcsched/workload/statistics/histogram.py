"""Histograms with a fixed number of bins, for values that are too many to keep."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

BINS_PER_DECADE = 24
_DECADES = 16
"""Up to the largest numbers that there are, 2⁵³."""

LOGARITHMIC: Sequence[float] = (
    0,
    *sorted(
        {
            math.ceil(10**decade * 10 ** (k / BINS_PER_DECADE))
            for decade in range(_DECADES)
            for k in range(BINS_PER_DECADE)
        }
    ),
)
"""Lower edges of bins of whole numbers: 24 a decade, as far as it has as many whole numbers.

A number below 10 has a bin of its own. The numbers of a larger bin differ by less than 11 %.
"""

RATIOS: Sequence[float] = (*(k / 100 for k in range(101)), math.nextafter(1, 2))
"""Lower edges of bins of ratios: 100 below 1, one for exactly 1, one above."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Summary of values from a histogram, in the values' own unit; None without values.

    Attributes
    ----------
    p25, p50, p75, p90, p99
        Percentiles: each the mean of the bin that holds it.
    max
        Exact maximum.
    bins
        Lower edge and count of each bin that is not empty.
    """

    count: int
    mean: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    max: float | None
    bins: tuple[tuple[float, int], ...]


class Histogram:
    """Counts and sums of values by bin.

    Parameters
    ----------
    edges
        Lower edges of the bins, ascending.
    """

    def __init__(self, edges: Sequence[float]) -> None:
        self._edges = edges
        self._counts = [0] * len(edges)
        self._sums: list[float] = [0] * len(edges)
        self._max: float | None = None

    def add(self, value: float) -> None:
        """Count a value, which must not be below the first edge."""
        # A value on an edge belongs to the bin that begins there.
        k = bisect_right(self._edges, value) - 1
        self._counts[k] += 1
        self._sums[k] += value
        if self._max is None or value > self._max:
            self._max = value

    def distribution(self) -> Distribution:
        """Return the summary of the values so far."""
        count = sum(self._counts)
        counted = zip(self._edges, self._counts, strict=True)
        return Distribution(
            count,
            sum(self._sums) / count if count else None,
            self._quantile(25, count),
            self._quantile(50, count),
            self._quantile(75, count),
            self._quantile(90, count),
            self._quantile(99, count),
            self._max,
            tuple((edge, number) for edge, number in counted if number),
        )

    def _quantile(self, percent: int, count: int) -> float | None:
        """Return the mean of the bin with this percentile by nearest rank."""
        if not count:
            return None
        # Nearest rank by whole numbers; a float product could be just above a multiple.
        rank = -(-percent * count // 100)
        k = next(k for k, upto in enumerate(accumulate(self._counts)) if upto >= rank)
        return self._sums[k] / self._counts[k]


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole, from 0 to 1; None if the whole is 0."""
    return part / whole if whole else None


def kolmogorov_smirnov(one: Distribution, other: Distribution) -> float | None:
    """Return the Kolmogorov-Smirnov distance: the largest difference of two cumulative shares.

    Returns
    -------
    float or None
        From 0 to 1; None if a distribution has no values.
    """
    if not one.count or not other.count:
        return None
    ones, others = dict(one.bins), dict(other.bins)
    furthest = gap = 0
    for edge in sorted(ones.keys() | others.keys()):
        # Whole numbers, so that equal shares differ by exactly nothing.
        gap += ones.get(edge, 0) * other.count - others.get(edge, 0) * one.count
        furthest = max(furthest, abs(gap))
    return furthest / (one.count * other.count)


def total_variation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the total variation distance of two vectors of shares: half the sum of differences.

    Parameters
    ----------
    one
        Shares that add up to 1, or zeros.
    other
        Shares of the same classes.

    Returns
    -------
    float or None
        From 0 to 1; None if a vector is zero.
    """
    if not any(one) or not any(other):
        return None
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2
