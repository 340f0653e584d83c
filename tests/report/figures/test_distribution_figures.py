"""Boxes and distribution functions of runs made by hand."""

from pathlib import Path

import pytest

from hpcsched.report.figures.distribution_figures import (
    box_figure,
    distribution_figure,
    quantity_values,
    survival_figure,
)
from tests.report.figures.described import unit, units
from tests.report.studies import pair, tables_of, write_experiment


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
