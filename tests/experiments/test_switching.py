"""The regret of settings of `hyper`, by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from comparisons.ahead.cells import AXES, METRICS
from comparisons.command import Drawing
from comparisons.finished import Finished, LabelledRun
from switching import content_of
from tests.docs.pages import tables

SLOWDOWNS = {
    "Lublin-1": {"SPF": 4.0, "EASY": 8.0, "hyper-2": 4.0},
    "BLUE-1-first": {"SPF": 9.0, "EASY": 3.0, "hyper-2": 12.0},
    "BLUE-1-last": {"SPF": 9.0, "hyper-2": 12.0},
}
"""Mean bounded slowdowns; one run is missing, and so the last log does not count."""


def test_regret() -> None:
    """The best members come to 4 and 3. Ratios are 1 and 3; 2 and 1; 1 and 4."""
    runs = []
    for log, by_name in SLOWDOWNS.items():
        for name, slowdown in by_name.items():
            labels = dict(zip(AXES, (log, "actual", "BSLD", name, "j1"), strict=True))
            run: Any = SimpleNamespace(
                summary={"metrics": dict.fromkeys(METRICS.values(), slowdown)}
            )
            runs.append(LabelledRun(labels, run))
    axes = {axis: ["one"] for axis in AXES} | {"dispatcher": ["SPF", "EASY", "hyper-2"]}
    (table,) = content_of(Finished(axes, runs, []), Drawing(Path(), {}, whole=True))
    rows = {row[0]: row[1:] for row in tables(str(table))[0]}
    assert rows["SPF"] == ["1.732 (3.00)"] * 4, "rules serve every objective"
    assert rows["EASY"] == ["1.414 (2.00)"] * 4
    assert rows["hyper-2"] == ["2.000 (4.00)", "–", "–", "–"]
