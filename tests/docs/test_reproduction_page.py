"""The tables of the page on KTH-SP2 agree with each other; tests/traces reruns their figures."""

import re

import pytest

from tests.docs.pages import ROOT, blocks
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
    (console,) = [block for block in blocks(PAGE) if block.language == "console"]
    run = re.findall(r"^\$ hpcsched run scenarios/(\S+)\.yaml$", console.text, re.MULTILINE)
    assert run == list(figures("actual"))
