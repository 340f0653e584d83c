"""The tables of the page on KTH-SP2 agree with each other; tests/traces reruns their figures."""

import re

import pytest

from comparisons.debs2024.declaration import read_presentation
from comparisons.debs2024.results import Comparison
from comparisons.debs2024.table import as_markdown
from debs2024 import SHOWN
from tests.docs.pages import ROOT, blocks, tables
from tests.docs.reproduction import METRICS, PAGE, figures, region

DISPATCHERS = {
    f"list, {order}": f"kth-list-{order.lower()}" for order in ("SPF", "SAF", "SJF", "LAF")
}
DISPATCHERS["EASY"] = "kth-easy"


@pytest.mark.parametrize("row", region("shares")[1:], ids=lambda row: f"{row[0]} {row[1]}")
def test_shares(row):
    """A share follows from the tables, and is the paper's in whole percent."""
    metric, dispatcher, *shares = row
    for predictor, paper, ours in zip(
        ("actual", "requested-time"), shares[::2], shares[1::2], strict=True
    ):
        table = figures(predictor)
        value, baseline = (
            float(table[name][metric]) for name in (DISPATCHERS[dispatcher], "kth-list-fcfs")
        )
        assert ours == f"{100 * value / baseline:.1f} %"
        assert paper == f"{100 * value / baseline:.0f} %"


@pytest.mark.parametrize("predictor", ["actual", "requested-time"])
def test_every_scenario_is_in_the_tables(predictor):
    """There is a row for each scenario of the paper, with a figure for each metric."""
    scenarios = ROOT / "scenarios"
    names = {"kth-easy", *(path.stem for path in scenarios.glob("kth-list-*.yaml"))}
    assert set(figures(predictor)) == names
    assert all(set(row) == set(METRICS) for row in figures(predictor).values())


def test_the_commands_run_every_scenario():
    """The commands on the page are those that produce the first table."""
    console = next(block for block in blocks(PAGE) if block.language == "console")
    run = re.findall(r"^\$ hpcsched run scenarios/(\S+)\.yaml$", console.text, re.MULTILINE)
    assert run == list(figures("actual"))


def test_the_comparison_is_the_one_that_is_declared():
    """Its rows, and what the paper has for them, are those that `--write-docs` writes."""
    (declared,) = tables(as_markdown(Comparison(read_presentation(SHOWN), {})))
    shown = region("debs2024")
    assert shown[0] == declared[0]
    known_before = (0, 1, 2, 5)
    assert [[row[k] for k in known_before] for row in shown] == [
        [row[k] for k in known_before] for row in declared
    ]


@pytest.mark.parametrize(
    "row",
    [row for row in region("debs2024")[1:] if row[1].startswith("List-") or row[1] == "EASY"],
    ids=lambda row: f"{row[0]} {row[1]}",
)
def test_shares_in_the_comparison(row):
    """Those of lists and EASY follow from the tables of the page."""
    metric, dispatcher = row[:2]
    name = DISPATCHERS.get(dispatcher.replace("List-", "list, "), "kth-list-fcfs")
    for predictor, ours in (("actual", row[3]), ("requested-time", row[6])):
        table = figures(predictor)
        value, baseline = (float(table[of][metric]) for of in (name, "kth-list-fcfs"))
        assert ours == f"{100 * value / baseline:.1f} %"
