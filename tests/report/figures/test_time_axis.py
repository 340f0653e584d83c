"""The axis of time: dates, hours and days."""

from pathlib import Path

import pytest

from hpcsched.report.figures.chart_parts import chart_of, file_content, rows, time_axis
from hpcsched.workload.trace_calendar import calendar_of
from tests.report.figures.described import texts

DAY = 86_400
STOCKHOLM = calendar_of(["UnixStartTime: 843480000", "TimeZoneString: Europe/Stockholm"], 0)
UNKNOWN = calendar_of([], 0)


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [(500, "seconds"), (3600, "minutes"), (2 * DAY, "hours"), (9 * DAY, "days")],
)
def test_units(seconds: int, unit: str, tmp_path: Path) -> None:
    """Without dates the unit suits the span; numbers are written in full."""
    axis = time_axis(0, seconds, UNKNOWN)
    assert axis.title == f"{unit} since the trace's origin"
    chart = chart_of(rows(time=axis.places([0, seconds]))).mark_tick().encode(x=axis.x("time"))
    out = tmp_path / "axis.svg"
    out.write_bytes(file_content(chart, "svg"))
    assert texts(out)[0] == "0"


def test_dates() -> None:
    """The day of the begin is in the title."""
    day = time_axis(0, DAY, STOCKHOLM)
    assert day.title == "from 1996-09-23, local time (UTC+02:00)"
    # Clocks are those of the begin: in November, winter time.
    later = time_axis(60 * DAY, 70 * DAY, STOCKHOLM)
    assert later.title == "from 1996-11-22, local time (UTC+01:00)"
    encoded = later.x("time").to_dict()
    assert (encoded["type"], encoded["scale"]["type"]) == ("temporal", "utc")
    # No calendar has a year 10000: the axis counts days.
    far = 8003 * 366 * DAY
    assert time_axis(far, far + 9 * DAY, STOCKHOLM).title == "days since the trace's origin"
    assert encoded["scale"]["domain"][1] - encoded["scale"]["domain"][0] == 10 * DAY * 1000
