"""Times of a trace in scenarios: seconds, durations and dates, by hand."""

from datetime import UTC

import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.workload.trace_calendar import (
    Calendar,
    Span,
    calendar_of,
    read_moment,
    second_of,
    simulated_second,
)

MIDNIGHT = 1_000_080_000
"""2001-09-10T00:00:00Z."""
STOCKHOLM = calendar_of(["UnixStartTime: 843480000", "TimeZoneString: Europe/Stockholm"], 0)
DATED = [f"UnixStartTime: {MIDNIGHT}"]


def test_moments() -> None:
    """1 d and 2 h are 93,600 s; dates stay as they are written."""
    assert read_moment(90) == 90
    assert read_moment("1d2h") == 93_600
    assert read_moment(" 2014-05-31T12:00 ") == "2014-05-31T12:00"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("soon", "expected a duration such as .* or a date such as 2014-05-31 .*found 'soon'"),
        ("2014-13-01", "expected a date such as 2014-05-31 or .*, found '2014-13-01'"),
        (True, "expected a duration of 0 s .*, or a date, found True"),
        (-1, "expected a duration of 0 s .*, or a date, found -1"),
        (1.5, "found 1.5"),
    ],
)
def test_what_is_no_moment(value: object, message: str) -> None:
    """A truth value is no second, either."""
    with pytest.raises(ValueError, match=message):
        read_moment(value)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (10, 10, "expected an end after the start, 10 s, found 10 s"),
        ("2014-05-31", "2014-05-30T23:59", "expected an end after the start, 2014-05-31, found"),
    ],
)
def test_spans_that_end_before_they_begin(start: object, end: object, message: str) -> None:
    """Found without a trace, if both are of one kind."""
    with pytest.raises(ValidationError, match=message):
        Span.model_validate({"start": start, "end": end})


def test_a_date_and_a_duration() -> None:
    """From 00:01 of the first day, second 60, to 2 min; 1 min would be no later."""
    span = Span.model_validate({"start": "2001-09-10T00:01", "end": "2min"})
    assert span.seconds(DATED, 0) == (60, 120)
    span = Span.model_validate({"start": "2001-09-10T00:01", "end": "1min"})
    with pytest.raises(InputError, match="2001-09-10T00:01 is second 60 of the trace, and 60 is"):
        span.seconds(DATED, 0)


def test_durations_in_a_trace_of_unix_times() -> None:
    """They count from the first submission, as second 0 is in 1970."""
    assert Span(start=10).seconds([], MIDNIGHT) == (MIDNIGHT + 10, None)
    assert Span(start=10).seconds([], 500) == (10, None)


def test_dates_by_the_trace_s_own_clocks() -> None:
    """Midnight in a zone two hours ahead is 22 o'clock in Greenwich."""
    span = Span(start="2001-09-10")
    assert span.seconds([f"UnixStartTime: {MIDNIGHT - 8000}", "TimeZone: 7200"], 0)[0] == 800


def test_a_trace_without_dates() -> None:
    """The message says what can be given instead."""
    unknown = Calendar(0, UTC, "unknown", known=False)
    assert second_of(5, unknown, 100) == 105
    with pytest.raises(InputError, match=r"2014-05-31 is no second of this trace.*such as 30d"):
        second_of("2014-05-31", unknown, 0)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (40, 40),
        ("40", 40),
        ("1d12h", 129_600),
        # Second 0 is 14:00 by the clocks there.
        ("1996-09-24", 36_000),
        ("1996-09-24T14:00", 86_400),
    ],
)
def test_given_times(given: int | str, seconds: int) -> None:
    """A time is in seconds, a duration, or a date by the clocks of the log."""
    assert simulated_second(given, STOCKHOLM, 0) == seconds


def test_a_duration_given_for_a_log_of_unix_times() -> None:
    """It counts from the first submission; plain seconds are those of the simulation."""
    unix = calendar_of([], MIDNIGHT)
    assert simulated_second("2min", unix, MIDNIGHT) == MIDNIGHT + 120
    assert simulated_second("2001-09-10 00:02", unix, MIDNIGHT) == MIDNIGHT + 120
    assert simulated_second(str(MIDNIGHT), unix, MIDNIGHT) == MIDNIGHT


def test_what_is_no_time() -> None:
    """It is one clear message, without a key of a scenario."""
    with pytest.raises(InputError, match=r"simulated seconds, a duration or a date: .*'noon'"):
        simulated_second("noon", STOCKHOLM, 0)
    with pytest.raises(InputError, match="error: 1996-09-24 is no second of this trace"):
        simulated_second("1996-09-24", calendar_of([], 0), 0)
