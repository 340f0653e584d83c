"""Means and sums over all batches of a table, equal for every batch size and machine.

Integers are summed as integers, floats with `math.fsum`, which rounds once, in any order.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.metric import Table

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
    """Return whether a value is no less than another beyond the resolution of both.

    Examples
    --------
    >>> no_less(0.1 + 0.2, 0.3), no_less(0.3, 0.1 + 0.2), no_less(0.3, 0.4)
    (True, True, False)
    """
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
    """Return the mean of `term(*columns)` over all its values; None without values.

    Parameters
    ----------
    term
        Values of some of the rows: fewer than it is given restrict the population.
    """
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
