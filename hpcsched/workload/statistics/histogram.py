"""Histograms of a fixed number of bins: what is known of values that are too many to keep."""

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
"""Where bins of whole numbers begin: 24 a decade, as far as there are so many whole numbers in it.

A number below 10 has a bin of its own. The numbers of a larger bin differ by less than 11 %.
"""

RATIOS: Sequence[float] = (*(k / 100 for k in range(101)), math.nextafter(1, 2))
"""Where bins of ratios begin: 100 below 1, one of those that are 1, one of those above."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values as a histogram knows them, in the values' own unit; None where there are none.

    Mean and maximum are exact; a quantile is the mean of the bin that it is in. `bins` has where
    each bin begins that is not empty, and how many values are in it.
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
    """Counts and sums values by bin; `edges`, ascending, are where the bins begin."""

    def __init__(self, edges: Sequence[float]) -> None:
        self._edges = edges
        self._counts = [0] * len(edges)
        self._sums: list[float] = [0] * len(edges)
        self._max: float | None = None

    def add(self, value: float) -> None:
        """Count a value, which must not be below the first edge."""
        k = bisect_right(self._edges, value) - 1
        self._counts[k] += 1
        self._sums[k] += value
        if self._max is None or value > self._max:
            self._max = value

    def distribution(self) -> Distribution:
        """Return what has been counted so far."""
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
        """Return the mean of the bin with the value of this percentile by nearest rank."""
        if not count:
            return None
        rank = -(-percent * count // 100)
        k = next(k for k, upto in enumerate(accumulate(self._counts)) if upto >= rank)
        return self._sums[k] / self._counts[k]


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole, from 0 to 1; None of nothing."""
    return part / whole if whole else None


def kolmogorov_smirnov(one: Distribution, other: Distribution) -> float | None:
    """Return the largest difference of two cumulative shares, 0 to 1, over bins of equal edges.

    None where there are no values.
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
    """Return half the sum of the differences of two vectors of shares, 0 to 1.

    None where one of them is of nothing.
    """
    if not any(one) or not any(other):
        return None
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2
