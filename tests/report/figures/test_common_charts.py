"""Distribution and survival functions, by hand and thinned."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.figures.chart_parts import STEPS
from hpcsched.report.figures.distribution_figures import (
    distribution,
    distributions,
    survival,
    survivals,
)
from hpcsched.report.figures.figure_files import drawn
from hpcsched.report.figures.figure_style import Look
from tests.report.figures.described import texts, unit

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
