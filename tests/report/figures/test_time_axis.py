"""The axis of time: dates, hours and days."""

from pathlib import Path

import pytest

from hpcsched.report.figures.chart_parts import chart_of, rows
from hpcsched.report.figures.figure_files import drawn
from hpcsched.report.figures.time_axis import time_axis
from hpcsched.workload.trace_calendar import calendar_of
from tests.report.figures.described import texts

DAY = 86_400
STOCKHOLM = calendar_of(["UnixStartTime: 843480000", "TimeZoneString: Europe/Stockholm"], 0)
UNKNOWN = calendar_of([], 0)


@pytest.mark.parametrize(
    ("seconds", "title", "marks"),
    [
        (500, "seconds", [0, 60, 120, 180, 240, 300, 360, 420, 480]),
        (3600, "minutes", [0, 10, 20, 30, 40, 50, 60]),
        (12 * 3600, "hours", [0, 2, 4, 6, 8, 10, 12]),
        (2 * DAY, "hours", [0, 6, 12, 18, 24, 30, 36, 42, 48]),
        (14 * DAY, "days", [0, 2, 4, 6, 8, 10, 12, 14]),
        (28 * DAY, "days", [0, 7, 14, 21, 28]),
    ],
)
def test_marks(seconds: int, title: str, marks: list[float]) -> None:
    """The unit suits the span, and marks are where a clock or a week has them."""
    axis = time_axis(0, seconds, UNKNOWN)
    assert axis.title == f"{title} since the trace's origin"
    shown = axis.x("time").to_dict()["axis"]
    assert shown["values"] == [pytest.approx(mark) for mark in marks]


def test_a_short_window_late_in_the_trace(tmp_path: Path) -> None:
    """It has quarters of hours, not hundreds of minutes."""
    axis = time_axis(8 * 3600, 9 * 3600, UNKNOWN)
    assert axis.title == "hours since the trace's origin"
    chart = chart_of(rows(time=[8, 9])).mark_tick().encode(x=axis.x("time"))
    out = tmp_path / "axis.svg"
    out.write_bytes(drawn(chart, "svg"))
    assert texts(out)[:5] == ["8", "8.25", "8.5", "8.75", "9"]


@pytest.mark.parametrize(
    ("hours", "written"),
    [
        (1, ["10 d 00:00", "10 d 00:10", "10 d 00:20", "10 d 00:30"]),
        (24, ["10 d 00:00", "10 d 03:00", "10 d 06:00", "10 d 09:00"]),
    ],
)
def test_hours_after_days(tmp_path: Path, hours: int, written: list[str]) -> None:
    """A short window ten days after the origin has clock times, not 864,000 s or 240 hours."""
    axis = time_axis(10 * DAY, 10 * DAY + 3600 * hours, UNKNOWN)
    assert axis.title == "days and hours since the trace's origin"
    places = axis.places([10 * DAY, 10 * DAY + 3600 * hours])
    chart = chart_of(rows(time=places)).mark_tick().encode(x=axis.x("time"))
    out = tmp_path / "axis.svg"
    out.write_bytes(drawn(chart, "svg"))
    assert texts(out)[:4] == written


def test_dates() -> None:
    """A short span has its days in the title, a long one its years."""
    day = time_axis(0, DAY, STOCKHOLM)
    assert day.title == "23 Sep 1996 to 24 Sep 1996, local time (UTC+02:00)"
    assert time_axis(0, 200 * DAY, STOCKHOLM).title == "1996 to 1997, local time (UTC+02:00)"
    # Clocks are those of the begin: in November, winter time.
    later = time_axis(60 * DAY, 70 * DAY, STOCKHOLM)
    assert later.title == "1996, local time (UTC+01:00)"
    encoded = later.x("time").to_dict()
    assert (encoded["type"], encoded["scale"]["type"]) == ("temporal", "utc")
    # No calendar has a year 10000: the axis counts days.
    far = 8003 * 366 * DAY
    assert time_axis(far, far + 9 * DAY, STOCKHOLM).title == "days since the trace's origin"
    assert encoded["scale"]["domain"][1] - encoded["scale"]["domain"][0] == 10 * DAY * 1000
