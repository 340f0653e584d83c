"""Figures of distributions, their curves and quantities."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.figures.chart_parts import STEPS
from hpcsched.report.figures.run_figures import (
    box_figure,
    distribution,
    distribution_figure,
    quantity_title,
    quantity_values,
)
from tests.report.figures.described import unit, units
from tests.report.studies import pair, tables_of, write_experiment, write_studied


def test_a_distribution_by_hand() -> None:
    """Of 1, 1, 3 and 4 there are 50 % up to 1; the curve begins at 0 % at the least value."""
    x, y = distribution(np.array([3.0, 1, 4, 1]))
    assert x.tolist() == [1, 1, 3, 4]
    assert y.tolist() == [0, 50, 75, 100]


def test_many_values_are_thinned() -> None:
    """Of a hundred thousand values a few hundred remain, with the ends, none far off."""
    values = np.random.default_rng(3).exponential(size=100_000)
    x, y = distribution(values)
    assert len(x) <= STEPS + 3
    assert (x[0], x[-1], y[-1]) == (values.min(), values.max(), 100)
    for at, percent in zip(x[1:], y[1:], strict=True):
        assert 100 * np.mean(values <= at) == pytest.approx(percent)
    assert np.diff(y).max() < 100 / STEPS + 0.01


def test_titles(tmp_path: Path) -> None:
    """They have the bound of the bounded slowdown, and the unit."""
    tables = tables_of(pair(tmp_path))
    assert quantity_title(tables, "bounded_slowdown") == "bounded slowdown, τ = 10 s"
    assert quantity_title(tables, "wait_time") == "wait time [s]"
    assert quantity_title(tables, "queue_size") == "jobs in the queue before a round"


def test_seeds_are_pooled(tmp_path: Path) -> None:
    """Seven jobs under each of two seeds are fourteen values that wait 500 s in all."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1)]
    ((case, values),) = quantity_values(tables_of(paths), "wait_time").items()
    assert case == ("easy", "trace")
    assert (len(values), values.sum()) == (14, 500)


def test_boxes(tmp_path: Path) -> None:
    """There is a panel for each trace with a row for each configuration, by ascending mean."""
    write_experiment(tmp_path)
    figure = box_figure(tables_of([tmp_path]), "wait_time")
    rules = [one for one in units(figure.chart) if one.mark == "rule"]
    assert rules[0].encoding["x"]["scale"]["type"] == "symlog"
    assert [one.title for one in rules] == ["kth", "ctc"]
    assert [one.axis_title("x") for one in rules] == ["", "wait time [s]"]
    assert rules[0].encoding["y"]["sort"] == rules[0].column("configuration") == ["easy", "sjf"]
    assert (rules[0].rows[0]["p25"], rules[0].rows[0]["p75"]) == (0, 80)


def test_most_jobs_do_not_wait(tmp_path: Path) -> None:
    """Percentiles are by nearest rank; the bars of the tail are behind those of the middle."""
    chart = box_figure(tables_of([write_studied(tmp_path / "run")]), "wait_time").chart
    (row,) = unit(chart, "rule").rows
    percentiles = [row[name] for name in ("least", "p25", "p50", "p75", "p90", "p99", "largest")]
    assert percentiles == [0, 0, 30, 80, 90, 90, 90]
    marks = unit(chart, "point")
    found = dict(zip(marks.column("mark"), marks.column("value"), strict=True))
    assert found == {"p50": 30, "p90": 90, "p99": 90, "mean": pytest.approx(250 / 7, rel=1e-5)}
    assert [one.encoding["x"]["field"] for one in units(chart) if one.mark == "bar"] == [
        "p90", "p75", "p25",
    ]  # fmt: skip


def test_queue_sizes(tmp_path: Path) -> None:
    """Boxes may be of rounds: by the queue before each, of all seeds."""
    compared = tables_of(pair(tmp_path))
    bars = unit(box_figure(compared, "queue_size").chart, "bar")
    assert bars.axis_title("x") == "jobs in the queue before a round"
    queued = compared.study.runs[0].run.rounds.whole()["queued"].to_pylist()
    values = quantity_values(compared, "queue_size")
    assert values["easy", compared.study.groups[0]].tolist() == queued
    (line,) = units(distribution_figure(compared, "queue_size").chart)
    assert line.axis_title("y") == "rounds at or below [%]"


def test_distribution(tmp_path: Path) -> None:
    """A line climbs to 100 percent, and is where it should be."""
    (line,) = units(distribution_figure(tables_of(pair(tmp_path)), "wait_time").chart)
    own = [row for row in line.rows if row["configuration"] == "easy"]
    assert [row["value"] for row in own] == [0, 0, 20, 30, 80, 90]
    percent = [0, 200 / 7, 300 / 7, 500 / 7, 600 / 7, 100]
    assert [row["percent"] for row in own] == pytest.approx(percent, rel=1e-5)
    assert line.axis_title("y") == "jobs at or below [%]"


def test_a_panel_for_each_trace(tmp_path: Path) -> None:
    """Each has its trace as title."""
    write_experiment(tmp_path)
    figure = distribution_figure(tables_of([tmp_path]), "bounded_slowdown")
    assert [one.title for one in units(figure.chart)] == ["kth", "ctc"]
    assert units(figure.chart)[0].axis_title("x") == "bounded slowdown, τ = 10 s"


def test_values_above_zero_have_a_logarithmic_scale(tmp_path: Path) -> None:
    """Only where there are values of 0 is the scale linear near it."""
    (line,) = units(distribution_figure(tables_of(pair(tmp_path)), "bounded_slowdown").chart)
    assert line.encoding["x"]["scale"]["type"] == "log"
    assert min(line.column("value")) >= 1
