"""Parts that the tables of a comparison share."""

from pathlib import Path

import pytest

from hpcsched.metrics.bootstrap import Interval
from hpcsched.report.tables.report_table import duration_text
from hpcsched.report.tables.study_tables import INTERVAL_NOTE, bounds_note, ends
from tests.report.studies import pair, set_tau, tables_of


def test_ends_of_an_interval() -> None:
    """Mean, lower and upper bound are three cells; without an interval all three are missing."""
    assert ends(Interval(2.5, 1.0, 4.0)) == (2.5, 1.0, 4.0)
    assert ends(None) == (None, None, None)


def test_the_note_on_intervals() -> None:
    """It says the level and the number of resamples."""
    assert INTERVAL_NOTE == "Intervals: 95 %, percentiles of the means of 2000 resamples"


def test_the_note_on_bounds(tmp_path: Path) -> None:
    """Runs with one bound have it once; different bounds are all there, ascending."""
    paths = pair(tmp_path)
    assert bounds_note(tables_of(paths)) == ["bounded_slowdown with tau = 10 s."]
    set_tau(paths[0], 60)
    assert bounds_note(tables_of(paths)) == ["bounded_slowdown with tau = 10, 60 s."]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59, "59 s"), (60, "1 min"), (3569, "59 min"), (3570, "1 h"), (86_399, "24 h"),
     (86_400, "1 d"), (100_000, "1 d 4 h")],
)  # fmt: skip
def test_durations(seconds: int, text: str) -> None:
    """They are rounded to two units at most."""
    assert duration_text(seconds) == text
