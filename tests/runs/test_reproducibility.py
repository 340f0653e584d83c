"""The same scenario gives the same results, byte for byte, whatever the clock says."""

import json
from pathlib import Path

import pytest

from hpcsched.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("dispatcher", ["easy", "{name: list, order: spf, allocator: best-fit}"])
def test_two_runs_are_equal(dispatcher: str, tmp_path: Path) -> None:
    """Jobs, scenario and summary are equal to the byte; what a clock measured is kept apart."""
    scenario = str(ROOT / "scenarios" / "small-easy.yaml")
    settings = ["--set", "trace.jobs=150", "--set", f"dispatcher={dispatcher}"]
    for name in ("one", "two"):
        assert main(["run", scenario, *settings, "--out", str(tmp_path / name)]) == 0
    one, two = tmp_path / "one", tmp_path / "two"
    for file in ("jobs.parquet", "scenario.yaml", "summary.json"):
        assert (one / file).read_bytes() == (two / file).read_bytes()
    for folder in (one, two):
        measured = json.loads((folder / "timing.json").read_text())["rounds"]
        assert measured["decision_time_mean"] > 0
        assert measured["decision_time_p99"] > 0


def test_a_resolved_scenario_can_be_run_again(tmp_path: Path) -> None:
    """The scenario that a run directory keeps gives the same jobs."""
    scenario = str(ROOT / "scenarios" / "small-easy.yaml")
    first, again = tmp_path / "first", tmp_path / "again"
    assert main(["run", scenario, "--set", "trace.jobs=100", "--out", str(first)]) == 0
    assert main(["run", str(first / "scenario.yaml"), "--out", str(again)]) == 0
    assert (first / "jobs.parquet").read_bytes() == (again / "jobs.parquet").read_bytes()


def test_a_run_that_replaces_another_leaves_nothing_of_it(tmp_path: Path) -> None:
    """The events of a replaced run do not stay beside the new one's results."""
    scenario = str(ROOT / "scenarios" / "small-easy.yaml")
    run = ["run", scenario, "--set", "trace.jobs=20", "--out", str(tmp_path / "run")]
    assert main([*run, "--set", "observers=[event-log]"]) == 0
    assert (tmp_path / "run" / "events.jsonl").exists()
    assert main([*run, "--force"]) == 0
    assert not (tmp_path / "run" / "events.jsonl").exists()
