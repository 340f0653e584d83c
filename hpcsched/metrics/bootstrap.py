"""Bootstrap confidence intervals of means of dependent values.

Jobs that are submitted one after another meet the same queue, so their waits are alike. Drawing
single jobs would ignore that, and make intervals too narrow. So whole blocks of neighbours are
drawn, from the values on a circle: the circular block bootstrap (D. Politis and J. Romano, A
circular block-resampling procedure for stationary data, 1992). With blocks of one value it is the
plain bootstrap (B. Efron, Bootstrap methods: another look at the jackknife, 1979). The intervals
are percentile intervals: between two quantiles of the resampled means.

Sums are exact, so that a resample in which differences cancel out has the mean 0, and not the error
of a sum. What is left of the rounding of the values themselves is 0 as well.
"""

import math
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, mean_of, paired_differences, paired_resolution
from hpcsched.system.system import IntArray

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
