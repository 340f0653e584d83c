"""Rows of data, scales and units of time."""

import numpy as np
import pytest

from hpcsched.report.figures.chart_parts import Look, colours, rows, time_unit, value_scale


def test_rows() -> None:
    """Single values are repeated, numbers are rounded, and columns must have one length."""
    found = rows(name="a", x=np.array([1, 2]), y=[0.123456789, None])
    assert found == [{"name": "a", "x": 1, "y": 0.123457}, {"name": "a", "x": 2, "y": None}]
    assert rows(x=[], name="a") == []
    with pytest.raises(ValueError, match="longer"):
        rows(x=[1], y=[1, 2])


@pytest.mark.parametrize(
    ("values", "kind", "marks"),
    [
        ([2.0, 3000.0], "log", [10, 100, 1000]),
        ([2.0, 40.0], "log", [2, 5, 10, 20]),
        ([2.0, 7.0], "log", [2, 3, 4, 5, 6, 7]),
        ([0.0, 300.0], "symlog", [0, 1, 10, 100]),
        ([], "linear", []),
    ],
)
def test_scales(values: list[float], kind: str, marks: list[float]) -> None:
    """Few powers of ten are joined by their multiples, and 0 has a mark."""
    scale, found = value_scale([np.array(values)])
    assert (scale.to_dict()["type"], found) == (kind, marks)


def test_a_single_configuration_needs_no_legend() -> None:
    """Its colour says nothing."""
    look = Look("#000000", 0)
    assert colours({"a": look}).to_dict()["legend"] is None
    legend = colours({"a": look, "b": look}).to_dict()["legend"]
    assert legend["columns"] >= 2
    # Lines that are long enough to tell dashes apart, not dots.
    assert (legend["symbolType"], legend["symbolSize"]) == ("stroke", 16**2)


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [(599, "seconds"), (600, "minutes"), (3 * 3600, "hours"), (5 * 86_400, "days")],
)
def test_units_of_time(seconds: int, unit: str) -> None:
    """Each begins where its numbers are small and whole enough."""
    assert time_unit(seconds)[1] == unit
