"""Rows of configurations: bars with values, and spreads of distributions."""

from pathlib import Path

import numpy as np

from hpcsched.metrics.bootstrap import Interval
from hpcsched.report.figures.figure_files import drawn
from hpcsched.report.figures.figure_style import Look
from hpcsched.report.figures.row_charts import Spread, bars, spread_of, spread_panels
from tests.report.figures.described import texts, unit, units

LOOKS = {"kth-a": Look("#0072B2", 0, "a"), "kth-b": Look("#0072B2", 1, "b")}


def test_the_mean_is_within_its_whisker() -> None:
    """Percentiles of resampled means need not contain the mean."""
    found = {("kth-a", "log"): Interval(5.0, 5.5, 6.0), ("kth-b", "log"): Interval(7.0, 7.0, 7.0)}
    rows = unit(bars(found, ["log"], LOOKS, "wait", 400), "bar").rows
    assert [(row["lower"], row["mean"], row["upper"]) for row in rows] == [(5, 5, 6), (7, 7, 7)]


def test_values_and_labels_are_written(tmp_path: Path) -> None:
    """Each bar has its value at its end, and its run's label beside it, which data do not have."""
    found = {
        ("kth-a", "log"): Interval(36_372.1, 30_000, 40_000),
        ("kth-b", "log"): Interval(2.31669, 2.31669, 2.31669),
    }
    chart = bars(found, ["log"], LOOKS, "wait [s]", 400)
    assert unit(chart, "bar").column("configuration") == ["kth-a", "kth-b"]
    out = tmp_path / "bars.svg"
    out.write_bytes(drawn(chart, "svg"))
    written = texts(out)
    assert {"36,372", "2.317", "a", "b", "wait [s]"} <= set(written)
    assert "kth-a" not in written


def test_each_trace_is_a_panel() -> None:
    """Bars of all traces are on one scale, whose title is below the last panel."""
    found = {(one, group): Interval(1.0, 1.0, 1.0) for one in LOOKS for group in ("x", "y")}
    chart = bars(found, ["x", "y"], LOOKS, "wait", 400)
    assert chart.to_dict()["resolve"] == {"scale": {"x": "shared"}}
    titles = [(one.title, one.axis_title("x")) for one in units(chart) if one.mark == "bar"]
    assert titles == [("x", None), ("y", "wait")]


def test_a_spread_by_hand() -> None:
    """Of 1 to 200 the percentiles are by nearest rank, and one in 200 is the least value."""
    spread = spread_of(np.arange(200.0) + 1)
    assert spread == Spread(1, 50, 100, 150, 180, 198, 200, 100.5, 0.005)


def test_most_jobs_do_not_wait() -> None:
    """Where most values are 0, the tail is drawn, and their share is written beside."""
    values = np.array([0.0] * 80 + [10.0] * 18 + [500.0, 1000.0])
    chart = spread_panels({("kth-a", "log"): spread_of(values)}, ["log"], LOOKS, "wait [s]", 400)
    whisker = unit(chart, "rule")
    assert whisker.encoding["x"]["scale"]["type"] == "symlog"
    (row,) = whisker.rows
    assert (row["lower"], row["p50"], row["upper"], row["p90"], row["p99"]) == (0, 0, 0, 10, 500)
    assert unit(chart, "text").column("share") == ["80 % at 0"]
    marks = unit(chart, "point")
    found = dict(zip(marks.column("mark"), marks.column("value"), strict=True))
    assert found == {"P50": 0, "P90": 10, "P99": 500, "mean": 16.8}
    assert [one.encoding["x"]["field"] for one in units(chart) if one.mark == "bar"] == [
        "p90", "upper", "lower",
    ]  # fmt: skip
