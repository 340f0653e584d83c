"""Means and sums of columns, by hand; equal for every size of batches."""

import numpy as np
import pytest

from hpcsched.metrics.column_sums import mean_of_floats, mean_of_integers, sum_of_floats
from tests.metrics.tables import MemoryTable

SIZES = pytest.mark.parametrize("batch", [1, 2, 3, 10])
NO_ROWS = MemoryTable({"a": [], "b": []})


@SIZES
def test_mean_of_integers(batch: int) -> None:
    """(5 - 1) + (7 - 2) + (9 - 3) + (4 - 4) is 15 over four rows."""
    table = MemoryTable({"end": [5, 7, 9, 4], "start": [1, 2, 3, 4]}, batch)
    assert mean_of_integers(table, ("end", "start"), np.subtract) == 3.75


def test_integers_keep_all_digits() -> None:
    """Floats would lose the 1: 2⁵³ + 1 is no float, and 2⁵³ + 2 is one."""
    table = MemoryTable({"a": [2**53, 1, 0, 1]}, 2)
    assert mean_of_integers(table, ("a",), np.positive) == (2**53 + 2) / 4


@SIZES
def test_mean_of_floats_over_part_of_the_rows(batch: int) -> None:
    """Rows without a run time are left out: (8 / 2 + 9 / 6) / 2."""
    table = MemoryTable({"response": [8, 3, 9], "run_time": [2, 0, 6]}, batch)
    found = mean_of_floats(
        table, ("response", "run_time"), lambda r, d: (r[d > 0] / d[d > 0]).astype(np.float64)
    )
    assert found == 2.75


@SIZES
def test_floats_are_rounded_once(batch: int) -> None:
    """Added one after another, 1 is lost beside 10¹⁶, and ten tenths are less than 1."""
    table = MemoryTable({"a": [1e16, 1.0, 1.0, -1e16]}, batch)
    assert sum_of_floats(table, ("a",), np.positive) == 2
    assert mean_of_floats(table, ("a",), np.positive) == 0.5
    assert sum_of_floats(MemoryTable({"a": [0.1] * 10}, batch), ("a",), np.positive) == 1


def test_sum_of_products() -> None:
    """2 × 0.5 + 3 × 0.25 + 4 × 0.125."""
    table = MemoryTable({"a": [2, 3, 4], "b": [0.5, 0.25, 0.125]}, 2)
    assert sum_of_floats(table, ("a", "b"), np.multiply) == 2.25


def test_nothing_has_no_mean() -> None:
    """Without rows, or without values of them, a mean is unknown; a sum is 0."""
    assert mean_of_integers(NO_ROWS, ("a", "b"), np.subtract) is None
    assert mean_of_floats(NO_ROWS, ("a", "b"), np.divide) is None
    assert sum_of_floats(NO_ROWS, ("a", "b"), np.divide) == 0
    rows = MemoryTable({"a": [1.0, 2.0]})
    assert mean_of_floats(rows, ("a",), lambda a: a[a > 2]) is None
