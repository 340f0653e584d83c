"""A set of job numbers, kept as runs of consecutive ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import NumbersSeen
from tests.strategies import tries


@tries(300)
@given(st.lists(st.integers(0, 12)))
def test_against_a_set(numbers):
    """A number is new exactly if a set does not hold it."""
    seen, expected = NumbersSeen(), set()
    for number in numbers:
        assert seen.add(number) == (number not in expected)
        expected.add(number)


@tries(200)
@given(st.lists(st.lists(st.integers(0, 15), max_size=6)))
def test_many_at_a_time(batches):
    """Numbers that are added together are there, and no others."""
    seen, expected = NumbersSeen(), set()
    for batch in batches:
        numbers = np.array(batch, dtype=np.int64)
        new = len(set(batch)) == len(batch) and expected.isdisjoint(batch)
        assert seen.add_all(numbers) == new
        expected.update(batch)
        assert [number in seen for number in range(16)] == [n in expected for n in range(16)]


@tries(100)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 4))))
def test_runs(runs):
    """A run is new exactly if a set holds none of its numbers."""
    seen, expected = NumbersSeen(), set()
    for first, more in runs:
        run = set(range(first, first + more + 1))
        assert seen.add_run(first, first + more) == run.isdisjoint(expected)
        expected |= run
        assert [number in seen for number in range(20)] == [n in expected for n in range(20)]


@tries(100)
@given(st.permutations(range(10)))
def test_every_number_is_remembered(numbers):
    """In whatever order numbers come, each is known from then on."""
    seen = NumbersSeen()
    assert [seen.add(number) for number in numbers] == [True] * 10
    assert [seen.add(number) for number in range(10)] == [False] * 10
