"""Dates of a trace's times."""

from hpcsched.workload.trace_calendar import NO_DATES, calendar_of


def test_dates_by_the_clock_of_the_log() -> None:
    """KTH-SP2 begins at 843480031, which is 1996-09-23 14:00:31 in Stockholm, two hours ahead."""
    found = calendar_of(("UnixStartTime: 843480031", "TimeZoneString: Europe/Stockholm"), 0)
    assert found.text(0) == "1996-09-23 14:00:31"
    assert found.clock == "Europe/Stockholm"
    # Clocks are put back in the night to October 27, so that 34 days later it is an hour less.
    assert found.text(34 * 86_400) == "1996-10-27 13:00:31"


def test_unix_times_are_dates_too() -> None:
    """Logs of Slurm have Unix times; without a zone it is UTC."""
    assert calendar_of((), 1_709_283_600).text(1_709_283_600) == "2024-03-01 09:00:00"


def test_origin_of_durations() -> None:
    """Second 0, unless submit times are Unix times: then the first submission."""
    assert calendar_of((), 1_709_283_600).origin(1_709_283_600) == 1_709_283_600
    assert calendar_of(("UnixStartTime: 843480031",), 50).origin(50) == 0
    assert NO_DATES.origin(50) == 0


def test_a_trace_without_a_date_has_seconds() -> None:
    """Nothing is made up; a year beyond 9999 has none either."""
    assert calendar_of((), 0) == NO_DATES
    assert NO_DATES.text(90) == "90 s"
    assert NO_DATES.instant(90) == "second 90"
    assert NO_DATES.date(90) is None
    assert calendar_of(("UnixStartTime: 843480031",), 0).text(2**60) == f"{2**60} s"
