"""A set of job numbers, kept as runs of consecutive ones."""

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.workload.numbers_seen import NumbersSeen
from tests.strategies import tries


@tries(300)
@given(st.lists(st.integers(0, 12)))
def test_against_a_set(numbers):
    """A number is new exactly if a set does not hold it."""
    seen, expected = NumbersSeen(), set()
    for number in numbers:
        assert seen.add(number) == (number not in expected)
        expected.add(number)


@tries(100)
@given(st.permutations(range(10)))
def test_every_number_is_remembered(numbers):
    """In whatever order numbers come, each is known from then on."""
    seen = NumbersSeen()
    assert [seen.add(number) for number in numbers] == [True] * 10
    assert [seen.add(number) for number in range(10)] == [False] * 10
