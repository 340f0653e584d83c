"""Metrics with intervals, and their titles."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures.metric_figure import metric_intervals, metric_title
from tests.report.studies import pair, tables_of, write_studied


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
