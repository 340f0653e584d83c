"""Numbers of other tools' logs as whole numbers, by hand."""

import math

import pytest

from hpcsched.workload.readers.quantities import duration, instant, whole_number


def test_instants_go_down_and_durations_up() -> None:
    """A job of 0.2 s at 9.9 s is one of 1 s at 9 s, and 3 s stay 3 s."""
    assert (instant("9.9"), duration("0.2"), duration(3.0), instant(" 3 ")) == (9, 1, 3, 3)


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


@pytest.mark.parametrize("value", [True, None, "", "1_0", "nan", "٣", math.inf, [1], "1e999"])
def test_what_is_no_number(value: object) -> None:
    """What Python would take for one, too: underscores, other scripts' digits, infinity."""
    for read in (whole_number, instant, duration):
        with pytest.raises(ValueError, match=r"expected a number, found "):
            read(value)


def test_a_part_of_a_whole() -> None:
    """The value is quoted."""
    with pytest.raises(ValueError, match=r"expected a whole number, found '4\.5'"):
        whole_number("4.5")


def test_the_largest() -> None:
    """2^53, the last up to which floats have every whole number."""
    assert whole_number(2**53) == 9007199254740992
    for read in (whole_number, instant, duration):
        with pytest.raises(ValueError, match="expected a number up to 9007199254740992"):
            read(2**53 + 1)


def test_long_values_are_cut_in_messages() -> None:
    """After 40 characters, quotes included."""
    with pytest.raises(ValueError, match=r"found 'x{39}…$"):
        instant("x" * 100)
