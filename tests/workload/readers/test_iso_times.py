"""Calendar times and their Unix times, by hand."""

from datetime import UTC, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from hpcsched.workload.readers.quantities import iso_instant, unix_time

BERLIN = ZoneInfo("Europe/Berlin")


def test_an_offset_counts_more_than_the_zone() -> None:
    """Two hours after midnight at UTC+2 is midnight in Greenwich: the beginning of 1970."""
    assert iso_instant("1970-01-01T02:00:00+02:00", BERLIN) == 0
    assert iso_instant("1970-01-01T02:00:00", BERLIN) == 3600
    assert iso_instant("1970-01-02", UTC) == 86_400


def test_fractions_are_exact() -> None:
    """Nine tenths, and half a second before 1970."""
    assert iso_instant("1970-01-01T00:00:01.9Z", None) == Fraction(19, 10)
    assert iso_instant("1969-12-31T23:59:59.5Z", None) == Fraction(-1, 2)


def test_times_that_clocks_show_twice_or_skip() -> None:
    """On 2024-10-27, 02:30 comes first at UTC+2: 00:30Z. On 2024-03-31 it counts as UTC+1: 01:30Z.

    2024-10-27T00:00Z is 1729987200, 2024-03-31T00:00Z is 1711843200.
    """
    assert iso_instant("2024-10-27T02:30", BERLIN) == 1729987200 + 1800
    assert iso_instant("2024-03-31T02:30", BERLIN) == 1711843200 + 5400


def test_local_times() -> None:
    """A clock in Berlin showed 01:00 on the first day of 1970 at second 0."""
    assert unix_time(datetime(1970, 1, 1, 1), BERLIN) == 0
    assert unix_time(datetime(1970, 1, 1, 1, 0, 0, 500_000), BERLIN) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", "expected an ISO 8601 time, found 'yesterday'"),
        ("2024-05-01", "the time has no offset from UTC, and no 'time_zone' is given"),
    ],
)
def test_times_that_say_no_instant(text: str, message: str) -> None:
    """Each has a message of its own."""
    with pytest.raises(ValueError, match=message):
        iso_instant(text, None)
