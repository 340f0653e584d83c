"""Numbers of other tools' logs as whole numbers, by hand."""

import math
from datetime import timedelta
from fractions import Fraction

import pytest

from hpcsched.workload.readers.policies import FractionalSeconds, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds, in_seconds, whole_number

SECONDS = WholeSeconds("outward")


def test_instants_go_down_and_durations_up() -> None:
    """A job of 0.2 s at 9.9 s is one of 1 s at 9 s, and 3 s stay 3 s."""
    seconds = WholeSeconds("outward")
    assert (seconds.duration(3.0), seconds.instant(" 3 "), seconds.rounded) == (3, 3, False)
    assert (seconds.instant("9.9"), seconds.duration("0.2"), seconds.rounded) == (9, 1, True)


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_a_fraction_that_is_refused(policy: FractionalSeconds) -> None:
    """Whole seconds in another notation are none; what is below 0 is not given."""
    seconds = WholeSeconds(policy)
    assert (seconds.instant("4.0"), seconds.duration(-1.5)) == (4, -1)
    with pytest.raises(UnusableError, match=r"expected whole seconds, found 12\.7") as caught:
        seconds.duration("12.7")
    assert caught.value.reason == "fractional_seconds"


def test_parts_of_a_second() -> None:
    """1,500 milliseconds are one and a half seconds, and -1,500 as much before 0."""
    assert in_seconds(timedelta(milliseconds=1500)) == Fraction(3, 2)
    assert in_seconds(timedelta(milliseconds=-1500)) == Fraction(-3, 2)
    assert in_seconds(timedelta(seconds=2)) == 2


def test_whole_numbers_in_any_notation() -> None:
    """Below 0 means not given, however far below."""
    assert [whole_number(value) for value in (4, 4.0, "4.0", "4e2", -7, "-0.0")] == [
        4,
        4,
        4,
        400,
        -1,
        0,
    ]


@pytest.mark.parametrize("value", [True, None, "", "1_0", "nan", "٣", math.inf, [1], "1e9999"])
def test_what_is_no_number(value: object) -> None:
    """What Python would take for one, too: underscores, other scripts' digits, infinity."""
    for read in (whole_number, SECONDS.instant, SECONDS.duration):
        with pytest.raises(ValueError, match=r"expected a number, found "):
            read(value)


def test_a_part_of_a_whole() -> None:
    """The value is quoted."""
    with pytest.raises(ValueError, match=r"expected a whole number, found '4\.5'"):
        whole_number("4.5")


def test_the_largest() -> None:
    """2^53, the last up to which floats have every whole number."""
    assert whole_number(2**53) == 9007199254740992
    for read in (whole_number, SECONDS.instant, SECONDS.duration):
        with pytest.raises(ValueError, match="expected a number up to 9007199254740992"):
            read(2**53 + 1)


def test_long_values_are_cut_in_messages() -> None:
    """After 40 characters, quotes included."""
    with pytest.raises(ValueError, match=r"found 'x{39}…$"):
        SECONDS.instant("x" * 100)
