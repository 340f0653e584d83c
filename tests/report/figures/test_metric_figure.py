"""The figure of metrics, and their intervals."""

from functools import partial
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.metrics.column_sums import Interval
from hpcsched.report.figures.chart_parts import Look, file_content
from hpcsched.report.figures.run_figures import (
    bars,
    metric_figure,
    metric_intervals,
    metric_title,
)
from tests.report.figures.described import texts, unit, units
from tests.report.studies import pair, tables_of, write_studied
from tests.runs.hand_made import tamper_json


def test_over_jobs(tmp_path: Path) -> None:
    """With one run, a mean over jobs has an interval over jobs; what is no mean has none."""
    tables = tables_of(pair(tmp_path))
    found = metric_intervals(tables, "mean_wait_time")["easy", "trace"]
    assert found.lower < 250 / 7 < found.upper
    makespan = metric_intervals(tables, "makespan")["easy", "trace"]
    assert makespan == (20_100, 20_100, 20_100)


def test_over_seeds(tmp_path: Path) -> None:
    """With several seeds the mean is over them; equal ones have an interval without width."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1, 2)]
    found = metric_intervals(tables_of(paths), "mean_wait_time")
    assert found == {("easy", "trace"): pytest.approx((250 / 7,) * 3)}


@pytest.mark.parametrize("name", ["mean_fun", "gpu-hours"])
def test_an_unknown_metric(name: str, tmp_path: Path) -> None:
    """It is an error with the names that there are."""
    with pytest.raises(InputError, match=f"no run has a value of '{name}'; there are: area_"):
        metric_figure(tables_of(pair(tmp_path)), name)


def test_titles(tmp_path: Path) -> None:
    """They are words, with symbols of parameters and with units."""
    tables = tables_of(pair(tmp_path))
    assert metric_title(tables, "mean_wait_time") == "mean wait time [s]"
    assert metric_title(tables, "mean_bounded_slowdown") == "mean bounded slowdown (τ = 10 s)"
    assert metric_title(tables, "p2sf") == "P²SF (α = 2) [s]"


def test_bars(tmp_path: Path) -> None:
    """Bars have the height of the metric, and whiskers the interval over jobs."""
    chart = metric_figure(tables_of(pair(tmp_path)), "mean_wait_time").chart
    bars = unit(chart, "bar")
    assert bars.column("mean") == pytest.approx([250 / 7, 310 / 7], rel=1e-5)
    assert all(row["lower"] < row["mean"] < row["upper"] for row in bars.rows)
    assert bars.axis_title("x") == "mean wait time [s]"
    assert unit(chart, "text").column("shown") == ["35.71", "44.29"]


def test_many_bars(tmp_path: Path) -> None:
    """Each has a row of its own, with its value."""
    paths = [write_studied(tmp_path / f"{k}", name=f"run {k}") for k in range(20)]
    whole = metric_figure(tables_of(paths), "mean_wait_time").chart
    assert unit(whole, "text").column("shown") == ["35.71"] * 20
    assert whole.to_dict()["height"] == 400


def test_the_objective_is_the_default(tmp_path: Path) -> None:
    """It has its own name and parameters, also where it is no metric; the best is above."""
    paths = pair(tmp_path)
    for path, value in zip(paths, (300.0, 200.0), strict=True):
        objective = {"name": "p2sf", "parameters": {"alpha": 3.0}, "value": value}
        tamper_json(path / "summary.json", partial(dict.update, objective=objective))
    chart = metric_figure(tables_of(paths)).chart
    bars = unit(chart, "bar")
    assert bars.axis_title("x") == "P²SF (α = 3) [s]"
    assert bars.column("mean") == [200, 300]
    assert bars.encoding["y"]["sort"] == ["sjf", "easy"]


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
    out.write_bytes(file_content(chart, "svg"))
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
