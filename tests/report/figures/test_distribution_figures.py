"""Figures of distributions, their curves and quantities."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.figures.chart_parts import STEPS
from hpcsched.report.figures.distribution_figures import (
    box_figure,
    distribution,
    distribution_figure,
    distributions,
    quantity_title,
    quantity_values,
    survival,
    survival_figure,
    survivals,
)
from hpcsched.report.figures.figure_files import drawn
from hpcsched.report.figures.figure_style import Look
from tests.report.figures.described import texts, unit, units
from tests.report.studies import pair, tables_of, write_experiment, write_studied

LOOKS = {"a": Look("#0072B2", 0), "b": Look("#0072B2", 1)}


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


def test_a_survival_function_by_hand() -> None:
    """Of 1, 1, 3 and 4 there are 50 % above 1 and 25 % above 3; above 4 there is none."""
    x, y = survival(np.array([3.0, 1, 4, 1]))
    assert x.tolist() == [1, 1, 3, 4]
    assert y.tolist() == [100, 50, 25, 25]
    x, y = survival(np.array([7.0, 7.0]))
    assert (x.tolist(), y.tolist()) == ([7, 7], [100, 100])


def test_the_tail_is_kept() -> None:
    """Of a hundred thousand values a few hundred remain, which are dense in the tail."""
    values = np.random.default_rng(3).exponential(size=100_000)
    x, y = survival(values)
    assert len(x) <= STEPS + 3
    for at, percent in zip(x[1:-1], y[1:-1], strict=True):
        assert 100 * np.mean(values > at) == pytest.approx(percent)
    # Of the last ten values each is there.
    assert x[-10:].tolist() == np.sort(values)[-10:].tolist()
    assert y[-1] == pytest.approx(0.001)


def test_scales_of_survival_functions() -> None:
    """Both axes are logarithmic; that of values is linear below 1 where there are zeros."""
    chart = survivals({"a": np.array([0.0, 0, 5, 50])}, LOOKS, ("wait", "above"))
    line = unit(chart, "line")
    assert line.encoding["x"]["scale"]["type"] == "symlog"
    assert line.encoding["y"]["scale"]["type"] == "log"
    assert line.encoding["y"]["scale"]["domain"] == [10, 100]


def test_durations_as_clocks_have_them(tmp_path: Path) -> None:
    """Waits up to two days are marked at minutes, hours and days, not at 100,000 s."""
    values = {"a": np.array([0.0, 30, 7200, 172_800])}
    out = tmp_path / "waits.svg"
    chart = distributions(values, LOOKS, ("wait time", "at or below"), seconds=True)
    out.write_bytes(drawn(chart, "svg"))
    assert texts(out)[:7] == ["0 s", "1 s", "10 s", "1 min", "10 min", "1 h", "10 h"]


def test_titles(tmp_path: Path) -> None:
    """They have the bound of the bounded slowdown, and the unit."""
    tables = tables_of(pair(tmp_path))
    assert quantity_title(tables, "bounded_slowdown") == "bounded slowdown, τ = 10 s"
    assert quantity_title(tables, "wait_time") == "wait time"
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
    assert [one.axis_title("x") for one in rules] == ["", "wait time"]
    assert rules[0].encoding["y"]["sort"] == rules[0].column("configuration") == ["easy", "sjf"]
    assert (rules[0].rows[0]["lower"], rules[0].rows[0]["upper"]) == (0, 80)


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


def test_survival(tmp_path: Path) -> None:
    """A line falls from 100 percent: of seven jobs two wait 0 s, and one above 80 s waits 90 s."""
    (line,) = units(survival_figure(tables_of(pair(tmp_path)), "wait_time").chart)
    own = [row for row in line.rows if row["configuration"] == "easy"]
    assert [row["value"] for row in own] == [0, 0, 20, 30, 80, 90]
    percent = [100, 500 / 7, 400 / 7, 200 / 7, 100 / 7, 100 / 7]
    assert [row["percent"] for row in own] == pytest.approx(percent, rel=1e-5)
    assert line.axis_title("y") == "jobs above [%]"
