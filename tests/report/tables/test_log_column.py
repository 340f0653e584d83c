"""The log's own schedule beside runs that are far from it."""

from pathlib import Path

import pytest

from hpcsched.report.tables.run_comparison import LogColumn, LogFigures


@pytest.mark.parametrize(
    ("waits", "nearest"),
    [
        ([500.0, 100.0, 1001.0], "500"),
        ([500.0, 100.0, 999.0], None),
        ([500.0, 100.0, 49.0], None),
        ([100.0, 110.0, 39.0], "100"),
        ([0.0, 5000.0, 1000.0], None),
        ([None, 10.0, 1000.0], "10"),
        ([1.0, 2.0, None], None),
    ],
)
def test_far_apart(waits: list[float | None], nearest: str | None) -> None:
    """More than twice and a minute from the nearest run; runs on both sides are not far."""
    column = LogColumn("recorded", Path("log"), LogFigures({}, None), {}, 9, 0)
    said = list(column.far_apart(waits, [None] * len(waits)))
    assert len(said) == (nearest is not None)
    more = waits[-1] is not None and waits[-1] > 100
    assert all(("fewer nodes" if more else "more nodes") in line for line in said)
    assert all(f"and {nearest} s in the nearest run" in line for line in said)
