"""The spread of a distribution: quartiles, tail and mean, as a row of a figure shows it."""

from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, mean_of
from hpcsched.metrics.percentiles import nearest_rank


class Spread(NamedTuple):
    """Percentiles and mean of values.

    Attributes
    ----------
    lower, p50, upper, p90, p99
        25th, 50th, 75th, 90th and 99th percentile, by nearest rank.
    at_least
        Share of the values that equal the least one, from 0 to 1.
    """

    least: float
    lower: float
    p50: float
    upper: float
    p90: float
    p99: float
    largest: float
    mean: float
    at_least: float


def spread_of(values: FloatColumn) -> Spread:
    """Return the spread of values.

    Parameters
    ----------
    values
        The values, at least one.
    """
    ascending = np.sort(values)
    lower, p50, upper, p90, p99 = (
        float(ascending[nearest_rank(percent, len(values))]) for percent in (25, 50, 75, 90, 99)
    )
    least, largest = float(ascending[0]), float(ascending[-1])
    at_least = float(np.mean(ascending == least))
    return Spread(least, lower, p50, upper, p90, p99, largest, mean_of(values), at_least)
