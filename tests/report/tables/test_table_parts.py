"""Parts that the tables of a comparison share."""

from pathlib import Path

from hpcsched.metrics.bootstrap import Interval
from hpcsched.report.tables.table_parts import INTERVAL_NOTE, bounds_note, ends
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
