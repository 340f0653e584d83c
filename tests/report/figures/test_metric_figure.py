"""Bars of metrics of runs made by hand."""

from pathlib import Path

import pytest

from hpcsched.report.figures.metric_figure import metric_choice_figure, metric_figure, metrics_of
from tests.report.figures.described import unit, units
from tests.report.studies import pair, tables_of, write_studied


def test_bars(tmp_path: Path) -> None:
    """Bars have the height of the metric, and whiskers the interval over jobs."""
    chart = metric_figure(tables_of(pair(tmp_path)), "mean_wait_time").chart
    bars = unit(chart, "bar")
    assert bars.column("mean") == pytest.approx([250 / 7, 310 / 7], rel=1e-5)
    assert all(row["lower"] < row["mean"] < row["upper"] for row in bars.rows)
    assert bars.axis_title("y") == "mean wait time [s]"
    # With two bars there is room for their values.
    assert [one.mark for one in units(chart)] == ["bar", "rule", "tick", "tick", "text"]


def test_many_bars_have_no_values_on_them(tmp_path: Path) -> None:
    """They would cover each other."""
    paths = [write_studied(tmp_path / f"{k}", name=f"run {k}") for k in range(20)]
    chart = metric_figure(tables_of(paths), "mean_wait_time").chart
    assert "text" not in [one.mark for one in units(chart)]


def test_all_metrics(tmp_path: Path) -> None:
    """The reader chooses one by its title; each unit shows the chosen one alone."""
    compared = tables_of(pair(tmp_path))
    whole = metric_choice_figure(compared).chart.to_dict()
    (choice,) = whole["params"]
    assert choice["bind"]["options"][0] == choice["value"]
    assert len(choice["bind"]["options"]) == len(metrics_of(compared))
    assert whole["title"]["text"] == {"expr": "metric"}
    for layer in whole["layer"]:
        assert layer["transform"][0] == {"filter": "datum.metric == metric"}
    (data,) = whole["datasets"].values()
    waits = [row for row in data if row["metric"] == "mean wait time [s]"]
    assert [row["mean"] for row in waits] == [35.7143, 44.2857]
