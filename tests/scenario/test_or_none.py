"""A choice of a plugin for which the word `none` may stand."""

from pathlib import Path

import pytest

from hpcsched import Scenario, load_scenario
from hpcsched.errors import InputError
from hpcsched.scenario.resolved import resolved_values

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def load(dispatcher: str) -> Scenario:
    """Load a scenario with another dispatcher."""
    return load_scenario(SCENARIOS / "small-best-of.yaml", [f"dispatcher={dispatcher}"])


def test_none_stays_none_and_a_name_becomes_a_choice() -> None:
    """Also where the resolved scenario is loaded again."""
    none = resolved_values(load("{name: best-of, solver: none}"))
    assert none["dispatcher"]["solver"] == "none"
    chosen = resolved_values(load("{name: best-of, solver: ortools}"))
    assert chosen["dispatcher"]["solver"]["name"] == "ortools"


@pytest.mark.parametrize(
    ("dispatcher", "message"),
    [
        ("{name: best-of, solver: nobody}", "dispatcher.solver: no solver is called 'nobody'"),
        ("{name: cp, solver: none}", "dispatcher.solver: no solver is called 'none'"),
        (
            "{name: best-of, solver: none, orders: []}",
            "without a solver there are orders",
        ),
        (
            "{name: best-of, solver: none, budget: 1}",
            "without a solver there are orders",
        ),
        ("{name: cp, search: 9, orders: []}", "a search begins with orders"),
    ],
)
def test_what_is_refused(dispatcher: str, message: str) -> None:
    """One clear message, at the parameter."""
    with pytest.raises(InputError) as caught:
        load(dispatcher)
    (finding,) = caught.value.findings
    assert message in f"{finding.key}: {finding.message}"
