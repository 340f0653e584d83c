"""Decision times of runs made by hand."""

from pathlib import Path

from hpcsched.report.figures.round_figures import decision_time_figure
from tests.report.figures.described import units
from tests.report.studies import pair, tables_of


def test_dots_and_lines(tmp_path: Path) -> None:
    """Each run has dots and a line of medians, on logarithmic scales."""
    dots, line, _ = units(decision_time_figure(tables_of(pair(tmp_path))).chart)
    assert {one.encoding[axis]["scale"]["type"] for one in (dots, line) for axis in "xy"} == {"log"}
    assert dots.axis_title("y") == "decision time (wall clock)"
    for one in (dots, line):
        assert set(one.column("run")) == {"easy", "sjf"}
    # Dots are paler than lines.
    assert set(dots.column("colour")).isdisjoint(line.encoding["color"]["scale"]["range"])
