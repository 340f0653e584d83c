"""Random numbers, frequency tables and histograms, the same for a seed on every machine.

Only `random.Random.random` of the standard library is used: its sequence is guaranteed, while those
of the other methods are not. Logarithms and exponentials are `portable`.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from hpcsched.parameters import LARGEST
from hpcsched.portable_math import exp, log, power

T = TypeVar("T")


class Draws:
    """Seeded stream of random numbers; repeatable if the draws are made in a fixed order."""

    def __init__(self, seed: int) -> None:
        self.uniform = Random(seed).random
        """Draws a number from [0, 1)."""
        self._spare_normal: float | None = None

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to `count` − 1."""
        return int(self.uniform() * count)

    def between(self, low: float, high: float) -> float:
        """Draw a number from [low, high)."""
        return low + (high - low) * self.uniform()

    def chance(self, probability: float) -> bool:
        """Draw an event of this probability, from 0 to 1."""
        return self.uniform() < probability

    def exponential(self, mean: float) -> float:
        """Draw an exponential number with this mean."""
        # 1 - u is in (0, 1], so that the logarithm is defined for u = 0.
        return -mean * log(1 - self.uniform())

    def normal(self) -> float:
        """Draw a standard normal number (Marsaglia's polar method)."""
        if self._spare_normal is not None:
            # The polar method yields two numbers; the second is kept for the next call.
            spare, self._spare_normal = self._spare_normal, None
            return spare
        while True:
            x, y = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            square = x * x + y * y
            if 0 < square < 1:
                scale = math.sqrt(-2 * log(square) / square)
                self._spare_normal = y * scale
                return x * scale

    def log_normal(self, median: float, spread: float) -> float:
        """Draw a log-normal number."""
        return median * exp(spread * self.normal())

    def gamma(self, shape: float, scale: float) -> float:
        """Draw a gamma number of mean shape × scale.

        Parameters
        ----------
        shape
            Shape, above 0.
        scale
            Scale, above 0.

        Notes
        -----
        Method of Marsaglia and Tsang, 2000.
        """
        if shape < 1:
            return self.gamma(shape + 1, scale) * power(1 - self.uniform(), 1 / shape)
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            edge = 1 + c * x
            v = edge * edge * edge if edge > 0 else 0.0
            if v > 0 and log(1 - self.uniform()) < 0.5 * x * x + d - d * v + d * log(v):
                return d * v * scale


class Weighted(Generic[T]):
    """Distribution over items in proportion to their weights.

    Parameters
    ----------
    items
        At least one item.
    weights
        One weight for each, none negative and not all zero.
    """

    def __init__(self, items: Sequence[T], weights: Sequence[float]) -> None:
        # A weight of 0 is allowed: kinds whose quota is used up stay in place and are never drawn.
        if not items or len(items) != len(weights) or min(weights) < 0 or not any(weights):
            raise ValueError("expected a weight for each item, none negative, not all zero")
        self.items = items
        self._upto = list(accumulate(weights))

    def draw(self, draws: Draws) -> T:
        """Draw an item."""
        return self.items[bisect_right(self._upto, draws.uniform() * self._upto[-1])]


MOST = 10_000
"""Maximum number of different values in a table."""


class Counts(Generic[T]):
    """Frequencies of up to `MOST` different values."""

    def __init__(self) -> None:
        self.counts: dict[T, int] = {}

    def add(self, thing: T) -> bool:
        """Count a value; return False if there is no room for a new one."""
        count = self.counts.get(thing, 0)
        # A full table still counts the values it knows.
        if not count and len(self.counts) >= MOST:
            return False
        self.counts[thing] = count + 1
        return True

    def weighted(self) -> Weighted[T]:
        """Return a distribution with these frequencies; there must be at least one value."""
        return Weighted(list(self.counts), list(self.counts.values()))


class Ascending:
    """Numbers with their frequencies, in ascending order."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._numbers = sorted(counts)
        self._upto = [0, *accumulate(counts[number] for number in self._numbers)]
        self.total = self._upto[-1]

    def at(self, place: float, least: int = 0, most: int = LARGEST) -> int | None:
        """Return the number at a relative position within bounds; None if there is none.

        Parameters
        ----------
        place
            Position, from 0 to 1, among the numbers within the bounds.
        """
        begin = self._upto[bisect_left(self._numbers, least)]
        end = self._upto[bisect_right(self._numbers, most)]
        if begin >= end:
            return None
        return self._numbers[bisect_right(self._upto, int(begin + place * (end - begin))) - 1]


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


_SMALL = 1e-17
"""Terms of the series below this share of the sum no longer change it."""


def lower_gamma(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function, the integral of tˢ⁻¹ e⁻ᵗ from 0 to x.

    Parameters
    ----------
    shape
        The shape s, above 0.
    x
        Upper bound of the integral, at least 0.

    Notes
    -----
    Divided by the gamma function of the shape, it is the probability that a gamma number of this
    shape and scale 1 is below x. The series xˢ e⁻ˣ Σ xⁿ / (s (s + 1) … (s + n)) has positive terms
    only; it takes some x + 40 of them.
    """
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    divisor = shape
    while term > _SMALL * total:
        divisor += 1
        term *= x / divisor
        total += term
    return exp(shape * log(x) - x) * total
