"""The table of stretches beside their off-line plans."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ahead_offline import content_of
from comparisons.command import Drawing
from comparisons.finished import Finished, LabelledRun
from tests.docs.pages import tables


def run(stretch: str, dispatcher: str, value: float, bound: float | None = None) -> LabelledRun:
    """Return a run with a mean response time, and the lower bound of a plan."""
    summary = {"metrics": {"mean_response_time": value}, "offline": {"lower_bound": bound}}
    read: Any = SimpleNamespace(summary=summary)
    return LabelledRun({"system": stretch, "dispatcher": dispatcher}, read)


def test_the_table() -> None:
    """105 is within 5 % of 100, and 220 is not of 200; without a plan there is no row."""
    axes = {"system": ["A-0", "B-400", "C-0"], "dispatcher": ["off-line", "order-search", "hyper"]}
    runs = [
        run("A-0", "off-line", 100, 90), run("A-0", "order-search", 105),
        run("B-400", "off-line", 200, 150), run("B-400", "order-search", 220),
        run("C-0", "order-search", 7),
    ]  # fmt: skip
    drawing = Drawing(Path(), {}, whole=True)
    table, *sentences = content_of(Finished(axes, runs, []), drawing)
    assert tables(str(table))[0][1:] == [
        ["A-0", "100", "90", "105", "1.050", "–", "–"],
        ["B-400", "200", "150", "220", "1.100", "–", "–"],
    ]
    assert sentences == [
        "`order-search` is within 5 % of the plan in 1 of 2 stretches, and 1.075 times the plan on"
        " average."
    ]
