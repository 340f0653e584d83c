"""The tables of `hyper` and `order-search` beside rules: shares of the best rule, by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ahead import content_of
from comparisons.ahead.cells import AXES, METRICS
from comparisons.command import Drawing
from comparisons.finished import Finished, LabelledRun
from hpcsched.errors import InputError
from tests.docs.pages import tables

AXIS_LABELS = (
    ["KTH-SP2-first", "KTH-SP2-last", "KTH-SP2-whole", "Gaia-first"],
    ["actual", "requested-time"],
    list(METRICS),
    ["SJF", "EASY", "order-search", "hyper"],
    ["j1", "j2"],
)
SLOWDOWNS = {
    ("KTH-SP2-first", "j1"): {"SJF": 10.0, "EASY": 20.0, "order-search": 5.0, "hyper": 11.0},
    ("KTH-SP2-first", "j2"): {"SJF": 12.0, "EASY": 20.0, "order-search": 6.0, "hyper": 9.0},
    ("KTH-SP2-last", "j1"): {"SJF": 8.0, "EASY": 4.0, "hyper": 5.0},
    ("KTH-SP2-last", "j2"): {"SJF": 1.0, "hyper": 1.0},
    ("KTH-SP2-whole", "j1"): {"SJF": 9.0, "EASY": 3.0, "hyper": 6.0},
    ("Gaia-first", "j1"): {"SJF": 1.5, "EASY": 1.2, "order-search": 1.2, "hyper": 1.224},
}
"""Mean bounded slowdowns with known run times. EASY is missing where it was not run."""


def finished() -> Finished:
    """Return these runs; other metrics of each are 100 times its slowdown."""
    runs = []
    for (stretch, seed), by_name in SLOWDOWNS.items():
        for name, slowdown in by_name.items():
            labels = dict(zip(AXES, (stretch, "actual", "BSLD", name, seed), strict=True))
            metrics = dict.fromkeys(METRICS.values(), 100 * slowdown)
            metrics["mean_bounded_slowdown"] = slowdown
            run: Any = SimpleNamespace(summary={"metrics": metrics})
            runs.append(LabelledRun(labels, run))
    return Finished(dict(zip(AXES, AXIS_LABELS, strict=True)), runs, [])


@pytest.fixture(scope="module")
def content() -> list[Any]:
    """Return what is shown of the runs."""
    drawing = Drawing(Path(), {}, whole=True)
    return list(content_of(finished(), drawing, kept=Path("missing.csv"), adding=False))


def test_kept_outcomes_and_runs_add_up(tmp_path: Path, content: list[Any]) -> None:
    """Half of the runs are kept, then the other half: what is shown is that of all.

    A run that does not come to what is kept of its cell is an error that names both.
    """
    kept, runs = tmp_path / "kept.csv", finished()
    drawing = Drawing(Path(), {}, whole=True)
    for half in (runs.runs[1::2], runs.runs[::2], ()):
        shown = content_of(replace(runs, runs=half), drawing, kept=kept, adding=True)
    assert shown == content
    labels, run = runs.runs[0]
    run.summary["metrics"]["p2sf"] += 0.01
    with pytest.raises(InputError, match=r"1000 of KTH-SP2-first .* j1; its run has .* 1000\.01"):
        content_of(replace(runs, runs=[LabelledRun(labels, run)]), drawing, kept=kept, adding=True)
    kept.write_text(kept.read_text().replace("Gaia-first", "Gaia-last"))
    with pytest.raises(InputError, match=r"Gaia-last .* is no cell"):
        content_of(replace(runs, runs=()), drawing, kept=kept, adding=False)


def test_a_log(content: list[Any]) -> None:
    """Stretches and seeds count alike, and only those in which all rules were run.

    Over three runs SJF comes to (10 + 12 + 8) / 3 = 10 and EASY to 44 / 3; `hyper` to 25 / 30 of
    SJF, and from 5 / 8 to 11 / 10 in single runs. `order-search` has two of them: 11 / 22.
    """
    first, *others = tables(content[1])[0][1:]
    assert first[:5] == ["KTH-SP2", "known", "BSLD", "SJF", "10.00"]
    assert first[5:] == ["0.500", "0.50 to 0.50", "0.833", "0.62 to 1.10"]
    assert [row[2:6] for row in others] == [
        [objective, "SJF", "1,000.00", "–"] for objective in ("AF", "AWF", "P2SF")
    ], "rules serve every objective, and searches their own"
    assert tables(content[2])[0][1][:5] == ["Gaia", "known", "BSLD", "EASY", "1.20"]


def test_single_stretches(content: list[Any]) -> None:
    """In the last stretch EASY is best, and 5 / 4 is behind; 1.224 / 1.2 = 1.02 is not."""
    assert tables(content[3])[0][1:] == [
        ["KTH-SP2-last", "known", "BSLD", "EASY", "4.00", "–", "–", "1.250", "1.25 to 1.25"]
    ]


def test_whole_logs(content: list[Any]) -> None:
    """They have tables of their own."""
    (row, *_) = tables(content[4])[0][1:]
    assert row == ["KTH-SP2", "known", "BSLD", "EASY", "3.00", "–", "–", "2.000", "2.00 to 2.00"]
    assert len(tables(content[5])[0]) == 1


def test_in_short(content: list[Any]) -> None:
    """Jobs queue at 10 and 4, not at 1.2; ahead are 0.833 of the log and 20 / 22 of a stretch."""
    rows = {tuple(row[:3]): row[3:] for row in tables(content[0])[0][1:]}
    assert rows["tuning", "a log", "hyper"] == ["1", "1", "0.833", "1", "1"]
    assert rows["tuning", "a stretch", "hyper"] == ["2", "1", "1.250", "2", "1"]
    assert rows["tuning", "a log", "order-search"] == ["1", "1", "0.500", "1", "1"]
    assert rows["unseen", "a log", "hyper"] == ["1", "1", "1.020", "0", "0"]
