"""A row of segments against a table of seconds."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core import row_kernels
from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import plain
from tests.reference import profile
from tests.strategies import tries

first_from = plain(row_kernels.first_from)
reserve_on_row = plain(row_kernels.reserve_on_row)
segments_within = plain(row_kernels.segments_within)
take_segments = plain(row_kernels.take_segments)

LENGTH = 60


class Row:
    """A row of segments: 10 are free, then 4 from second 5 on, 7 from 9 on, none from 60 on."""

    def __init__(self) -> None:
        self.start = np.array([0, 5, 9, LENGTH] + [0] * 60)
        self.free = np.array([10, 4, 7, 0] + [0] * 60)
        self.count = 4

    def reserve(self, release: int, run_time: int, amount: int) -> int:
        """Take an amount at the earliest time, and return that."""
        begin, self.count = reserve_on_row(
            release, run_time, amount, self.count, self.start, self.free
        )
        return begin

    def within(self, end: int, amount: int) -> int:
        """Return how many segments begin before `end`, if all of them have as much."""
        found: int = segments_within(end, amount, self.count, self.start, self.free)
        return found

    def steps(self) -> list[tuple[int, int]]:
        """Return from when on how much is free, where that changes."""
        pairs = list(zip(self.start.tolist(), self.free.tolist(), strict=True))[: self.count]
        assert [time for time, _ in pairs] == sorted({time for time, _ in pairs})
        return [pair for k, pair in enumerate(pairs) if not k or pairs[k - 1][1] != pair[1]]


def table(row: Row) -> profile.Seconds:
    """Return what is free in each second."""
    steps = row.steps()
    return [[[[free for time, free in steps if time <= t][-1]]] for t in range(LENGTH)]


def test_reservations_by_hand() -> None:
    """Six for four seconds now, six more only from 9 on, and three from 10 on when asked late."""
    row = Row()
    assert row.reserve(0, 4, 6) == 0  # 10 - 6 = 4 are left until 4, 10 until 5
    assert row.steps() == [(0, 4), (4, 10), (5, 4), (9, 7), (60, 0)]
    assert row.reserve(0, 4, 6) == 9  # until 13, of 7
    assert row.reserve(10, 5, 3) == 13  # 1 is left until 13
    assert row.steps() == [(0, 4), (4, 10), (5, 4), (9, 1), (13, 4), (18, 7), (60, 0)]
    assert row.reserve(3, 1, 5) == 4
    assert row.reserve(0, 52, 1) == 0
    assert row.reserve(0, 60, 1) == NEVER
    assert row.reserve(0, 1, 11) == NEVER


def test_what_is_left_before_a_late_start() -> None:
    """A job that is released amid a segment leaves the part before it as it was."""
    row = Row()
    assert row.reserve(2, 1, 10) == 2
    assert row.steps() == [(0, 10), (2, 0), (3, 10), (5, 4), (9, 7), (60, 0)]


def test_segments_within_an_end() -> None:
    """Two segments begin before 9, three before 10; the second has 4."""
    row = Row()
    assert [row.within(end, 4) for end in (1, 5, 6, 9, 10)] == [1, 1, 2, 2, 3]
    assert [row.within(end, 5) for end in (5, 6)] == [1, 0]


def test_the_first_value_from_a_time_on() -> None:
    """Of 1, 3 and 3."""
    values = np.array([1, 3, 3, 0])
    assert [first_from(time, values, 3) for time in (0, 1, 2, 3, 4)] == [0, 0, 1, 1, 3]


@tries(150)
@given(
    asked=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30), st.integers(1, 11))),
    drawn=st.data(),
)
def test_reservations_against_seconds(asked: list[tuple[int, int, int]], drawn: Any) -> None:
    """Each job is at the first second at which a table of seconds has room for it."""
    row = Row()
    free = table(row)
    for release, run_time, amount in asked[:20]:
        if drawn.draw(st.booleans()):  # from now on, if that can be
            last = row.within(run_time, amount)
            throughout = all(free[t][0][0] >= amount for t in range(run_time))
            assert bool(last) == throughout
            if last:
                row.count = take_segments(0, last, run_time, amount, row.count, row.start, row.free)
                profile.take(free, [amount], [1], 0, run_time)
        else:
            expected = profile.earliest(free, profile.Job(1, [amount], [1], run_time, release))
            found = row.reserve(release, run_time, amount)
            assert (None if found == NEVER else found) == expected
            if expected is not None:
                profile.take(free, [amount], [1], expected, expected + run_time)
        assert table(row) == free
