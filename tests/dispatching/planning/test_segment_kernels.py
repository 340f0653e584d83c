"""Free amounts during list scheduling, and the way back, by hand."""

from typing import Any

import numpy as np

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.planning import segment_kernels

open_segments = plain(segment_kernels.open_segments)
take_between = plain(segment_kernels.take_between)
room_to_keep = plain(segment_kernels.room_to_keep)
keep = plain(segment_kernels.keep)
restore = plain(segment_kernels.restore)


def steps(segments: Any, node: int) -> list[tuple[int, int]]:
    """Return from when on how much of the first type is free on a node."""
    found, s = [], node
    while s != -1:
        found.append((int(segments.start[s]), int(segments.free[s, 0])))
        s = int(segments.after[s])
    return found


def test_amounts_are_taken_and_given_back() -> None:
    """Of 8, 3 are taken from 2 to 5, and 2 more from 4 to 9; node 1 with 4 stays as it is."""
    segments = open_segments(0, np.array([[8], [4]]), 10)
    kept = room_to_keep(2, segments)
    take_between(0, 2, 5, np.array([3]), segments)
    keep(segments, False, kept, 1)
    take_between(0, 4, 9, np.array([2]), segments)
    assert steps(segments, 0) == [(0, 8), (2, 5), (4, 3), (5, 6), (9, 8)]
    assert steps(segments, 1) == [(0, 4)]
    restore(kept, 1, False, segments)
    assert steps(segments, 0) == [(0, 8), (2, 5), (5, 8)]
    assert segments.state[0] == 4


def test_a_row_shares_the_memory_of_the_free_amounts() -> None:
    """Counted units are walked as one row."""
    segments = open_segments(7, np.array([[8, 1]]), 3)
    segments.row[1] = 5
    assert segments.free[0].tolist() == [8, 5]
    assert segments.start[0] == 7
