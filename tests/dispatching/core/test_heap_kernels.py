"""The compiled heap of rows, worked out by hand, and as a way to sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.heap_kernels import make_heap, pop, push, sift_down
from tests.strategies import tries


@pytest.mark.parametrize(
    ("at", "count", "times", "order"),
    [
        (0, 5, (9, 2, 3, 4, 5), [1, 3, 2, 0, 4]),
        (0, 5, (9, 3, 2, 4, 5), [2, 1, 0, 3, 4]),
        (0, 2, (9, 2, 1), [1, 0, 2]),
        (0, 1, (9, 2, 1), [0, 1, 2]),
        (0, 3, (9, 2, 2), [1, 0, 2]),
        (0, 3, (2, 2, 2), [0, 1, 2]),
        (1, 5, (9, 8, 1, 3, 2), [0, 4, 2, 3, 1]),
        (1, 4, (9, 8, 1, 3, 2), [0, 3, 2, 1, 4]),
    ],
)
def test_a_heap(at: int, count: int, times: tuple[int, ...], order: list[int]) -> None:
    """What is late moves down, where the earlier of two moves up, and nothing beyond the count."""
    rows, keys = np.arange(len(times)), np.array([times, [0] * len(times)]).T
    plain(sift_down)(at, count, rows, keys, (0, 1))
    assert rows.tolist() == order


@tries(200)
@given(keys=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=20))
def test_rows_come_off_in_order(keys: list[tuple[int, int]]) -> None:
    """By both columns, whether they were pushed one by one or made a heap at once."""
    table, count = np.array(keys), len(keys)
    for pushed in (True, False):
        rows = np.arange(count)
        if pushed:
            for row in range(count):
                plain(push)(row, row, rows, table, (0, 1))
        else:
            plain(make_heap)(count, rows, table, (0, 1))
        came = []
        for left in range(count, 0, -1):
            came.append(keys[rows[0]])
            plain(pop)(left, rows, table, (0, 1))
        assert came == sorted(keys)
