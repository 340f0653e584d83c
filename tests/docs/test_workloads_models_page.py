"""The page on models: the table of distances is what is measured."""

import re
from pathlib import Path

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.workload.trace_statistics import (
    TraceStatistics,
    distance,
    trace_statistics,
)
from tests.docs.pages import DOCS, ROOT, tables
from tests.real_traces import KTH_SP2, trace

PAGE = (DOCS / "workloads-models.md").read_text(encoding="utf-8")
FIELDS = {"run time / requested time": "accuracy"}


def figures() -> dict[str, str]:
    """Return the figure of each row by its name."""
    match = re.search(r"<!-- begin kth-mimic -->\n(.*?)<!-- end", PAGE, re.DOTALL)
    assert match is not None
    ((_, *found),) = tables(match[1])
    return dict(found)


def census(scenario: str) -> TraceStatistics:
    """Return the figures of a scenario's trace."""
    path: Path = ROOT / "scenarios" / f"{scenario}.yaml"
    parts = assemble(load_scenario(path))
    bounds = parts.scenario.metrics.class_bounds
    return trace_statistics(parts.source, parts.system, bounds)


def test_distances() -> None:
    """To the digits shown."""
    trace(KTH_SP2)
    kth, mimic = census("kth-easy"), census("kth-mimic-easy")
    far = distance(kth, mimic)
    for name, shown in figures().items():
        if name == "span / original's":
            assert mimic.arrivals.span_seconds is not None
            assert kth.arrivals.span_seconds is not None
            found: float | None = mimic.arrivals.span_seconds / kth.arrivals.span_seconds
        else:
            found = getattr(far, FIELDS.get(name, name.replace(" ", "_")))
        assert f"{found:.3f}" == shown, name
