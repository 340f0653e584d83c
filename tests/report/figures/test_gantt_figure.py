"""Gantt charts of runs made by hand."""

from pathlib import Path

from hpcsched.report.figures.gantt_figure import gantt_figure
from tests.report.figures.described import unit, units
from tests.report.studies import pair, tables_of


def test_panels(tmp_path: Path) -> None:
    """There is one for each run and type, with the jobs of the window as rectangles."""
    chart = gantt_figure(tables_of(pair(tmp_path)).study, ("core", "gpu"), 0, 40).chart
    found = units(chart)
    titles = list(dict.fromkeys(one.title for one in found))
    assert titles == ["easy: core", "easy: gpu", "sjf: core", "sjf: gpu"]
    jobs = next(one for one in found if one.mark == "rect" and one.rows)
    rectangles = [(row["begin"], row["end"], row["top"], row["bottom"]) for row in jobs.rows]
    assert sorted(rectangles) == [(0, 40, 0, 1), (0, 40, 1, 2), (0, 40, 2, 3), (0, 40, 3, 3.5)]
    assert jobs.axis_title("x") == "seconds since the trace's origin"


def test_names_and_numbers(tmp_path: Path) -> None:
    """Each of a few nodes is named at its middle, and jobs with room have their numbers."""
    chart = gantt_figure(tables_of(pair(tmp_path)).study, ("core",), 0, 40).chart
    axis = unit(chart, "rect").encoding["y"]["axis"]
    assert axis["values"] == [0.5, 1.5, 2.5, 3.5]
    assert axis["labelExpr"].startswith('["thin-0", "thin-1", "thin-2", "fat-0"][indexof(')
    numbers = unit(chart, "text")
    assert sorted(set(numbers.column("job"))) == ["1", "2"]
    # Another group of nodes begins below the third.
    assert unit(chart, "rule").column("row") == [3]
