"""Levels over time: by hand, and by counting second by second."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.metrics.capacity import (
    OverTime,
    binned,
    over_time,
    spanning,
    time_mean,
    time_quantile,
)


def test_by_hand() -> None:
    """Two jobs wait from 0 to 4 and from 2 to 10, so one, two and one do."""
    course = over_time(np.array([0, 2]), np.array([4, 10]))
    assert course.instants.tolist() == [0, 2, 4, 10]
    assert course.levels.tolist() == [1, 2, 1]
    assert time_mean(course) == 1.2
    assert [time_quantile(course, percent) for percent in (50, 80, 81, 100)] == [1, 1, 2, 2]


def test_spans() -> None:
    """A course is cut, and continued with 0."""
    course = over_time(np.array([2]), np.array([4]), np.array([5]))
    wider = spanning(course, 0, 10)
    assert (wider.instants.tolist(), wider.levels.tolist()) == ([0, 2, 4, 10], [0, 5, 0])
    inside = spanning(course, 3, 4)
    assert (inside.instants.tolist(), inside.levels.tolist()) == ([3, 4], [5])


def test_nothing() -> None:
    """Without jobs there is no mean; over a span the level is 0."""
    nothing = over_time(np.empty(0, np.int64), np.empty(0, np.int64))
    assert time_mean(nothing) is None
    assert time_quantile(nothing, 50) is None
    assert spanning(nothing, 0, 3).levels.tolist() == [0]


def test_bins() -> None:
    """A bin has the mean over its time, and the largest level in it."""
    course = over_time(np.array([0, 1, 6]), np.array([8, 3, 7]))
    edges, means, maxima = binned(course, 2)
    assert edges.tolist() == [0, 4, 8]
    assert means.tolist() == [1.5, 1.25]
    assert maxima.tolist() == [2, 2]


def test_a_bin_that_begins_within_a_level() -> None:
    """The level that a bin begins with counts in it, though it began before.

    From 5 to 10 there is 8 for 2 s and 3 for 3 s: (16 + 9) / 5 = 5, and at most 8.
    """
    course = OverTime(np.array([0, 2, 7, 10]), np.array([1.0, 8.0, 3.0]))
    edges, means, maxima = binned(course, 2)
    assert edges.tolist() == [0, 5, 10]
    assert means.tolist() == [5.2, 5]  # (1·2 + 8·3) / 5 is the first
    assert maxima.tolist() == [8, 8]


def test_a_bin_that_begins_with_a_level() -> None:
    """A level that ends where a bin begins is none of that bin's: 9 until 4 is not in 4 to 8."""
    course = OverTime(np.array([0, 4, 6, 8, 12]), np.array([9.0, 1.0, 7.0, 2.0]))
    edges, means, maxima = binned(course, 3)
    assert edges.tolist() == [0, 4, 8, 12]
    assert means.tolist() == [9, 4, 2]
    assert maxima.tolist() == [9, 7, 2]


def test_as_many_bins_as_levels() -> None:
    """Each level has a bin of its own, as long as it lasts."""
    course = OverTime(np.array([0, 1, 10]), np.array([4.0, 2.0]))
    edges, means, maxima = binned(course, 2)
    assert (edges.tolist(), means.tolist(), maxima.tolist()) == ([0, 1, 10], [4, 2], [4, 2])


INTERVALS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, 5)), min_size=1, max_size=12
)


@given(INTERVALS, st.integers(1, 100))
def test_second_by_second(intervals: list[tuple[int, int, int]], percent: int) -> None:
    """Means and quantiles are those of a list with the level of each second."""
    since = np.array([begin for begin, _, _ in intervals])
    until = np.array([begin + length for begin, length, _ in intervals])
    amounts = np.array([amount for _, _, amount in intervals])
    course = over_time(since, until, amounts)
    seconds = sorted(
        int(amounts[(since <= second) & (second < until)].sum())
        for second in range(int(since.min()), int(until.max()))
    )
    if not seconds:
        assert time_mean(course) is None
        return
    assert time_mean(course) == pytest.approx(sum(seconds) / len(seconds))
    assert time_quantile(course, percent) == seconds[-(-percent * len(seconds) // 100) - 1]
