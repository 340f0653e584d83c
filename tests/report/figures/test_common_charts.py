"""Distribution functions, thinned; bars and boxes by hand."""

import numpy as np
import pytest

from hpcsched.metrics.bootstrap import Interval
from hpcsched.report.figures.boxes import Box
from hpcsched.report.figures.chart_parts import STEPS
from hpcsched.report.figures.common_charts import bars, boxes, distribution
from hpcsched.report.figures.figure_style import Look
from tests.report.figures.described import unit, units

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


def test_boxes_by_hand() -> None:
    """Whiskers, box, median and mean are marks of their own on one scale."""
    box = Box(1, 2, 4, 8, 16, 5)
    chart = boxes({("a", "log"): box}, ["log"], LOOKS, "wait")
    assert [one.mark for one in units(chart)] == ["rule", "bar", "tick", "point"]
    assert unit(chart, "rule").rows == [{"contender": "a", "group": "log", **box._asdict()}]
    assert unit(chart, "bar").encoding["y"]["scale"]["domain"] == [1, 16]


def test_the_mean_is_within_its_whisker() -> None:
    """Percentiles of resampled means need not contain the mean."""
    found = {("a", "log"): Interval(5.0, 5.5, 6.0), ("b", "log"): Interval(7.0, 7.0, 7.0)}
    rows = unit(bars(found, ["log"], LOOKS, "wait"), "bar").rows
    assert [(row["lower"], row["mean"], row["upper"]) for row in rows] == [(5, 5, 6), (7, 7, 7)]
