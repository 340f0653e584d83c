"""Positions of units on a node of 8, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.cp.postpone import position_kernels

add_box = plain(position_kernels.add_box)
most_slots = plain(position_kernels.most_slots)
next_low = plain(position_kernels.next_low)
remove_last_box = plain(position_kernels.remove_last_box)

PROBLEM: Any = SimpleNamespace(capacity=np.array([[8]]))


def search() -> Any:
    """Return a search in which positions 2 and 3 are taken until 10, and 5 until 20."""
    columns = ("box_end", "box_low", "box_high", "box_next")
    made = SimpleNamespace(
        state=np.zeros(12, dtype=np.int64),
        box_first=np.array([[-1]]),
        **{name: np.zeros(4, dtype=np.int64) for name in columns},
    )
    add_box(0, 0, 2, 4, 10, made)
    add_box(0, 0, 5, 6, 20, made)
    return made


def test_the_lowest_positions_that_are_free_side_by_side() -> None:
    """Two are free at 0, then only at 6; three are free nowhere until 10, and then at 0 and 2."""
    made = search()
    assert [next_low(0, 0, 2, low, 5, PROBLEM, made) for low in (0, 1, 6, 7)] == [0, 6, 6, -1]
    assert next_low(0, 0, 3, 0, 5, PROBLEM, made) == -1
    assert [next_low(0, 0, 3, low, 10, PROBLEM, made) for low in (0, 2, 3)] == [0, 2, -1]


def test_units_that_have_positions() -> None:
    """From 5 on two units of 2, from 10 on three (0, 2 and 6), from 20 on all four."""
    made = search()
    assert [most_slots(0, 0, 2, 9, begin, PROBLEM, made) for begin in (5, 10, 20)] == [2, 3, 4]
    assert most_slots(0, 0, 2, 1, 20, PROBLEM, made) == 1


def test_positions_are_given_back_in_reverse() -> None:
    """Without the box that was added last, three are free from 4 on."""
    made = search()
    remove_last_box(0, 0, made)
    assert next_low(0, 0, 3, 0, 5, PROBLEM, made) == 4
