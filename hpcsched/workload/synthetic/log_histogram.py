"""Histograms of numbers over many orders of magnitude, and sampling from them."""

import math
from collections.abc import Sequence

from hpcsched.portable_math import exp, log
from hpcsched.workload.synthetic.draws import Draws, Weighted

PER_DECADE = 24
"""Bins a decade; the numbers of one differ by 10 %."""
_WIDTH = log(10.0) / PER_DECADE


ZERO_BIN = -(10**6)
"""Bin of zeros, below all others."""


def bin_of(number: float) -> int:
    """Return the bin of a number, which must not be negative."""
    return math.floor(log(number) / _WIDTH) if number else ZERO_BIN


class LogHistogram:
    """Counts of numbers by bin."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.count = 0
        """How many numbers have been counted."""

    def add(self, number: float) -> None:
        """Count a number, which must not be negative."""
        k = bin_of(number)
        self._counts[k] = self._counts.get(k, 0) + 1
        self.count += 1

    def resampled(self) -> "Resampled":
        """Return a distribution of the numbers so far; there must be at least one."""
        bins = sorted(self._counts)
        return Resampled(bins, [self._counts[k] for k in bins])


class Resampled:
    """Empirical distribution: a bin by its count, and log-uniformly within it."""

    def __init__(self, bins: Sequence[int], counts: Sequence[int]) -> None:
        self._bins = Weighted(bins, counts)

    def draw(self, draws: Draws) -> float:
        """Draw a number; always takes two uniform ones."""
        # Both draws also for zeros, so that the number of draws does not depend on values.
        k, place = self._bins.draw(draws), draws.uniform()
        return 0.0 if k == ZERO_BIN else exp((k + place) * _WIDTH)
