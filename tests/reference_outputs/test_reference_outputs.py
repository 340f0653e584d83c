"""Outputs of many scenarios are those that are stored, value by value but for clocks.

A change that is meant to move them writes them anew: `python -m tests.reference_outputs`.
"""

from pathlib import Path

import pytest

from tests.real_traces import trace
from tests.reference_outputs.digests import differences
from tests.reference_outputs.stored import Listed, listed, stored_digests

SCENARIOS = listed()


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(one, marks=() if one.in_default_run else pytest.mark.slow, id=one.name)
        for one in SCENARIOS
    ],
)
def test_outputs(scenario: Listed, tmp_path: Path) -> None:
    """Each table, the summary and the events are as stored; a difference names file and column."""
    for log in scenario.logs:
        trace(log)
    found = scenario.digests(tmp_path / "run")
    assert list(differences(stored_digests()[scenario.name], found)) == []


def test_stored() -> None:
    """Digests are stored for exactly the scenarios that are listed."""
    assert list(stored_digests()) == [one.name for one in SCENARIOS]
