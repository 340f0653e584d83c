"""The page on models: the table of distances is what is measured."""

import re
from pathlib import Path

import pytest

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.workload.statistics.trace_statistics import (
    TraceStatistics,
    distance,
    trace_statistics,
)
from tests.docs.pages import DOCS, ROOT, tables
from tests.real_traces import KTH_SP2, trace

PAGE = (DOCS / "workloads-models.md").read_text(encoding="utf-8")
FIELDS = {"run time / requested time": "accuracy"}


def rows() -> tuple[list[str], dict[str, list[str]]]:
    """Return the ways, and the figures of each row by its name."""
    match = re.search(r"<!-- begin kth-mimic -->\n(.*?)<!-- end", PAGE, re.DOTALL)
    assert match is not None
    ((header, *found),) = tables(match[1])
    return [way.strip("`") for way in header[1:]], {name: cells for name, *cells in found}


def census(scenario: str, *overrides: str) -> TraceStatistics:
    """Return the figures of a scenario's trace."""
    path: Path = ROOT / "scenarios" / f"{scenario}.yaml"
    parts = assemble(load_scenario(path, overrides))
    bounds = parts.scenario.metrics.class_bounds
    return trace_statistics(parts.source, parts.system, bounds)


@pytest.fixture(scope="module")
def kth() -> TraceStatistics:
    """Return the figures of the log."""
    trace(KTH_SP2)
    return census("kth-easy")


@pytest.mark.parametrize(
    "way",
    [
        pytest.param("slots", marks=pytest.mark.slow),
        pytest.param("progress", marks=pytest.mark.slow),
        "calendar",
    ],
)
def test_distances(way: str, kth: TraceStatistics) -> None:
    """To the digits shown."""
    ways, figures = rows()
    column = ways.index(way)
    mimic = census("kth-mimic-easy", f"trace.cycle={way}")
    far = distance(kth, mimic)
    for name, cells in figures.items():
        if name == "span / original's":
            assert mimic.arrivals.span_seconds is not None
            assert kth.arrivals.span_seconds is not None
            found: float | None = mimic.arrivals.span_seconds / kth.arrivals.span_seconds
        else:
            found = getattr(far, FIELDS.get(name, name.replace(" ", "_")))
        assert f"{found:.3f}" == cells[column], name
