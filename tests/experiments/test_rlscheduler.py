"""The tables of RLScheduler: means over windows beside what is printed, and each window."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from comparisons.command import Drawing
from comparisons.finished import Finished, LabelledRun
from comparisons.rlscheduler.table import AXES
from rlscheduler import content_of
from tests.docs.pages import tables

FIGURES = {
    ("Lublin-1", "1981"): {"FCFS": 7000.0, "FCFS+backfill": 200.0, "EASY-SJF": 40.0, "new": 41.0},
    ("Lublin-1", "2756"): {"FCFS": 7001.0, "FCFS+backfill": 201.5, "EASY-SJF": 20.0, "new": 15.0},
    ("Lublin-2", "1981"): {"FCFS": 8000.0, "FCFS+backfill": 300.0, "EASY-SJF": 50.0, "new": 51.0},
    ("Lublin-2", "2756"): {"FCFS": 8000.0, "EASY-SJF": 10.0},
}
"""Two windows of each log, under a scheduler of the paper and two others; two runs are missing."""


def run_with(figure: float) -> Any:
    """Return what is read of a run."""
    return SimpleNamespace(summary={"metrics": {"mean_bounded_slowdown": figure}})


def test_the_tables() -> None:
    """Means are over all windows or not there; a scheduler that is added stands in all tables.

    41 / 40 = 1.025 is behind by more than 2 %, 51 / 50 = 1.02 is not, and 15 / 20 is ahead.
    """
    names = ["FCFS", "FCFS+backfill", "EASY-SJF", "new"]
    axes = dict(zip(AXES, (["Lublin-1", "Lublin-2"], ["1981", "2756"], names), strict=True))
    runs = [
        LabelledRun(dict(zip(AXES, (log, window, name), strict=True)), run_with(figure))
        for (log, window), of_window in FIGURES.items()
        for name, figure in of_window.items()
    ]
    means, first, second, sentence = content_of(
        Finished(axes, runs, ["two"]), Drawing(Path(), {}, whole=True)
    )
    rows = {row[0]: row[1:] for row in tables(str(means))[0]}
    lublin_1, lublin_2 = (rows["FCFS"][:4], rows["FCFS"][4:])
    assert lublin_1 == ["7273.77", "7000.50", "235.82", "200.75"]
    assert lublin_2 == ["7842.47", "8000.00", "247.61", "–"]
    assert rows["RL"] == ["254.67", "–", "58.64", "–", "724.51", "–", "118.79", "–"]
    assert rows["SJF"] == ["277.35", "–", "73.31", "–", "787.89", "–", "91.99", "–"]
    assert rows["EASY-SJF"] == ["–", "–", "–", "30.00", "–", "–", "–", "30.00"]
    assert rows["new"] == ["–", "–", "–", "28.00", "–", "–", "–", "–"]
    assert list(rows)[-2:] == ["EASY-SJF", "new"]
    assert tables(str(first))[0] == [
        ["jobs before", "FCFS+backfill", "EASY-SJF", "new", "new / EASY-SJF"],
        ["1,981", "200.00", "40.00", "41.00", "1.02"],
        ["2,756", "201.50", "20.00", "15.00", "0.75"],
    ]
    assert tables(str(second))[0][-1] == ["2,756", "–", "10.00", "–", "–"]
    assert sentence == (
        "`new` is behind EASY-SJF by more than 2 % in 1 of 3 windows. Its figure is 0.75 to 1.02"
        " times that of EASY-SJF."
    )
