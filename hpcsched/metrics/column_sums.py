"""Means and sums over all batches of a table, equal for every batch size and machine.

Integers are summed as integers, floats with `math.fsum`, which rounds once, in any order.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.metric_tables import Table

FloatColumn = npt.NDArray[np.float64]
IntTerm = Callable[..., npt.NDArray[np.int64]]
FloatTerm = Callable[..., FloatColumn]


def mean_of_integers(table: Table, columns: tuple[str, ...], term: IntTerm) -> float | None:
    """Return the mean of `term(*columns)` over all rows; None without rows.

    Parameters
    ----------
    table
        The rows.
    columns
        Names of the columns passed to `term`.
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
    table
        The rows.
    columns
        Names of the columns passed to `term`.
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
