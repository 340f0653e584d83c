"""Means and sums over all batches of a table, equal for every batch size and machine.

Integers are summed as integers, floats with `math.fsum`, which rounds once, in any order.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.metric import Table
from hpcsched.system.system import IntArray

RESOLUTION = 2.0**-48
"""Relative error that the values of a job, and means of them, may have from rounding.

A value is rounded a few times, by 2⁻⁵³ each; two values that differ by less may be the same.
"""

FloatColumn = npt.NDArray[np.float64]
IntTerm = Callable[..., npt.NDArray[np.int64]]
FloatTerm = Callable[..., FloatColumn]


def mean_of(values: FloatColumn) -> float:
    """Return the mean of one or more values; their sum is rounded once."""
    return math.fsum(values.tolist()) / len(values)


def no_less(value: float, other: float) -> bool:
    """Return whether a value is no less than another beyond the resolution of both."""
    return other - value <= RESOLUTION * (abs(value) + abs(other))


def paired_differences(values: FloatColumn, others: FloatColumn) -> FloatColumn:
    """Return values less others; 0 where the two are alike within their resolution."""
    found = values - others
    found[np.abs(found) <= RESOLUTION * (np.abs(values) + np.abs(others))] = 0.0
    return found


def paired_resolution(values: FloatColumn, others: FloatColumn) -> float:
    """Return the size below which a mean of values less others is 0."""
    return RESOLUTION * mean_of(np.abs(values) + np.abs(others))


def paired_mean(values: FloatColumn, others: FloatColumn) -> float:
    """Return the mean of values less others; 0 below their resolution."""
    mean = mean_of(paired_differences(values, others))
    return 0.0 if abs(mean) <= paired_resolution(values, others) else mean


def mean_of_integers(table: Table, columns: tuple[str, ...], term: IntTerm) -> float | None:
    """Return the mean of `term(*columns)` over all rows; None without rows.

    Parameters
    ----------
    term
        Whole numbers of each row; their sum over a batch must stay below 2⁶³, as times in seconds
        do.
    """
    count = total = 0
    for batch in table.batches(*columns):
        values = term(*batch)
        count += len(values)
        total += int(values.sum())
    return total / count if count else None


def mean_of_floats(table: Table, columns: tuple[str, ...], term: FloatTerm) -> float | None:
    """Return the mean of `term(*columns)` over all its values; None without values."""
    count = 0

    def values() -> Iterator[list[Any]]:
        nonlocal count
        for batch in table.batches(*columns):
            part = term(*batch)
            count += len(part)
            yield part.tolist()

    # Exactly rounded once, so that the result does not depend on the size of batches.
    total = math.fsum(chain.from_iterable(values()))
    return total / count if count else None


def sum_of_floats(table: Table, columns: tuple[str, ...], term: FloatTerm) -> float:
    """Return the correctly rounded sum of `term(*columns)` over all rows."""
    parts = (term(*batch).tolist() for batch in table.batches(*columns))
    return math.fsum(chain.from_iterable(parts))


LEVEL = 0.95
RESAMPLES = 2000
SEED = 0
_AT_ONCE = 4_000_000
"""Maximum number of block sums in memory at a time, 8 bytes each."""


class Interval(NamedTuple):
    """Mean with its confidence interval, in the unit of the values."""

    mean: float
    lower: float
    upper: float

    @property
    def beyond_noise(self) -> bool:
        """Whether the interval of a difference does not hold 0."""
        return self.lower > 0 or self.upper < 0


def block_length(count: int) -> int:
    """Return ⌈√n⌉ for n values: both the length and the number of blocks grow with n."""
    return max(math.isqrt(max(count, 1) - 1) + 1, 1)


def mean_interval(
    values: FloatColumn,
    *,
    block: int | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    resolution: float = 0.0,
) -> Interval | None:
    """Return the mean of values with a bootstrap percentile interval; None without values.

    Parameters
    ----------
    values
        Sample in its original order, `[n]`; neighbours may depend on each other.
    block
        Number of neighbours drawn together, 1 to n; ⌈√n⌉ if None.
    level
        Level of confidence, between 0 and 1.
    resolution
        Error of a mean from the rounding of the values; what is no larger becomes 0.

    Notes
    -----
    A single value has an interval of width 0, which says nothing about its uncertainty.
    """
    count = len(values)
    if not count:
        return None
    means = _resampled(values, block or block_length(count), resamples, seed)
    tail = (1 - level) / 2
    found = (mean_of(values), *np.quantile(means, [tail, 1 - tail]).tolist())
    return Interval._make(0.0 if abs(value) <= resolution else value for value in found)


def paired_interval(
    values: FloatColumn, others: FloatColumn, *, block: int | None = None
) -> Interval | None:
    """Return the mean of values less others with its interval, as of `mean_interval`.

    Parameters
    ----------
    values, others
        Pairs in their original order, `[n]` each.
    """
    if not len(values):
        return None
    resolution = paired_resolution(values, others)
    return mean_interval(paired_differences(values, others), block=block, resolution=resolution)


def _resampled(values: FloatColumn, block: int, resamples: int, seed: int) -> FloatColumn:
    """Return the means of resamples, each of n values in blocks, the last block cut."""
    count = len(values)
    # Two whole numbers a value, a large and a small part, add up without rounding.
    exponent = math.frexp(2 * count * float(np.abs(values).max()))[1] - 62
    bits = 61 - (2 * count).bit_length()
    scaled = np.ldexp(values, -exponent)
    large = np.rint(scaled)
    small = np.rint(np.ldexp(scaled - large, bits))
    sums = _resampled_sums(large.astype(np.int64), block, resamples, seed).astype(np.float64)
    if small.any():
        rest = _resampled_sums(small.astype(np.int64), block, resamples, seed)
        sums += np.ldexp(rest.astype(np.float64), -bits)
    return np.asarray(np.ldexp(sums, exponent) / count, np.float64)


def _resampled_sums(values: IntArray, block: int, resamples: int, seed: int) -> IntArray:
    """Return the sums of resamples, each of n values in blocks, the last block cut."""
    count = len(values)
    blocks = -(-count // block)
    # The sum of a block is a difference of two sums up to a place on the circle, walked twice.
    upto = np.concatenate(([0], np.cumsum(np.concatenate((values, values)))))
    lengths = np.full(blocks, block)
    lengths[-1] = count - block * (blocks - 1)
    generator = np.random.default_rng(seed)
    parts = []
    step = max(_AT_ONCE // blocks, 1)
    for first in range(0, resamples, step):
        size = (min(step, resamples - first), blocks)
        starts = generator.integers(count, size=size)
        parts.append((upto[starts + lengths] - upto[starts]).sum(axis=1))
    return np.concatenate(parts)
