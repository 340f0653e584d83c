"""Replays give back all that they held."""

import gc

import pytest

import hpcsched
from hpcsched.runs.observers import resident_memory

SCENARIO = "scenarios/small-easy.yaml"


@pytest.mark.parametrize(
    ("count", "dispatcher"),
    [
        (200, "easy"),
        (15, "{name: order-search, budget: 50}"),
        pytest.param(10_000, "easy", marks=pytest.mark.slow),
        pytest.param(2_000, "{name: order-search, budget: 50}", marks=pytest.mark.slow),
    ],
)
def test_replays_leak_nothing(count: int, dispatcher: str) -> None:
    """The core calls Python in some of them: for predictions, and for decisions."""
    changes = ["trace.jobs=60", "predictor=last-two", f"dispatcher={dispatcher}"]
    scenario = hpcsched.load_scenario(SCENARIO, changes)
    workload = hpcsched.read_workload(scenario)

    def replay(times: int) -> int:
        for _ in range(times):
            assert hpcsched.replay(scenario, workload).jobs.num_rows == 60
        gc.collect()
        return resident_memory() or 0

    before = replay(30)
    assert replay(count) - before < 4 << 20
