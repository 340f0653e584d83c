"""The figure of metrics, and their intervals."""

from functools import partial
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures.metric_figure import (
    metric_choice_figure,
    metric_figure,
    metric_intervals,
    metric_title,
    metrics_of,
)
from tests.report.figures.described import unit
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
        metric_intervals(tables_of(pair(tmp_path)), name)


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


@pytest.mark.parametrize(
    ("name", "chosen", "order"),
    [
        ("mean_wait_time", "mean wait time [s]", ["easy", "sjf"]),
        ("makespan", "makespan [s]", ["sjf", "easy"]),
    ],
)
def test_the_objective_is_chosen_first(
    name: str, chosen: str, order: list[str], tmp_path: Path
) -> None:
    """The reader of a page sees it at once, and the best run above, as the answer says."""
    paths = pair(tmp_path)
    for path, value in zip(paths, (300.0, 200.0), strict=True):
        objective = {"name": name, "parameters": {}, "value": value}
        tamper_json(path / "summary.json", partial(dict.update, objective=objective))
    chart = metric_choice_figure(tables_of(paths)).chart
    (choice,) = chart.to_dict()["params"]
    assert choice["value"] == chosen
    assert unit(chart, "bar").encoding["y"]["sort"] == order


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
