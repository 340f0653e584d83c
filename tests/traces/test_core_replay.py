"""The core's rounds on real logs: the same run directories as where Python decides."""

from pathlib import Path

import pytest

import hpcsched
from tests.real_traces import trace
from tests.runs.both_loops import CLOCK, check_equal, in_both_loops

SCENARIOS = Path(__file__).parents[2] / "scenarios"
KTH_SP2, CERIT_SC = "KTH-SP2-1996-2.swf.gz", "CERIT-SC-2013.swf.gz"


def check(name: str, overrides: list[str], folder: Path) -> None:
    """Run a scenario in both loops, and replay it in memory; compare directories and tables."""
    scenario = hpcsched.load_scenario(SCENARIOS / f"{name}.yaml", overrides)
    compiled, python = in_both_loops(lambda out: hpcsched.run(scenario, out), folder)
    check_equal(compiled, python)
    run, replay = hpcsched.open_run(python), hpcsched.replay(scenario, places=True)
    assert replay.in_python == ()
    assert replay.jobs.equals(run.jobs)
    assert replay.rounds.drop_columns(CLOCK).equals(run.rounds.drop_columns(CLOCK))


@pytest.mark.parametrize(
    ("log", "name", "jobs", "more"),
    [
        (KTH_SP2, "kth-easy", 4000, []),
        (KTH_SP2, "kth-list-laf", 1500, []),
        pytest.param(KTH_SP2, "kth-easy", 4000, ["dispatcher=slack"], marks=pytest.mark.slow),
        (CERIT_SC, "cerit-easy", 1500, []),
        (CERIT_SC, "cerit-list", 1500, []),
        pytest.param(CERIT_SC, "cerit-easy", 1500, ["dispatcher=relaxed"], marks=pytest.mark.slow),
    ],
)
def test_the_first_jobs(log: str, name: str, jobs: int, more: list[str], tmp_path: Path) -> None:
    """One resource type and two, under EASY and with reservations for all."""
    trace(log)
    check(name, [f"trace.jobs={jobs}", *more], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "name", "more"),
    [
        (KTH_SP2, "kth-easy", []),
        (KTH_SP2, "kth-easy", ["simulation.aggregate_nodes=false"]),
        (KTH_SP2, "kth-list-fcfs", []),
        (KTH_SP2, "kth-list-spf", []),
        (CERIT_SC, "cerit-easy", []),
        (CERIT_SC, "cerit-easy", ["dispatcher.allocator=keep-scarce"]),
        (CERIT_SC, "cerit-list", []),
        (CERIT_SC, "cerit-list", ["predictor=actual"]),
        (KTH_SP2, "kth-easy", ["dispatcher=relaxed"]),
        (KTH_SP2, "kth-easy", ["dispatcher=conservative"]),
        (KTH_SP2, "kth-easy", ["dispatcher={name: slack, compression: reservation}"]),
        (KTH_SP2, "kth-easy", ["dispatcher={name: easy, order: slowdown}"]),
        (CERIT_SC, "cerit-easy", ["dispatcher=conservative"]),
        (CERIT_SC, "cerit-easy", ["dispatcher=slack"]),
        (CERIT_SC, "cerit-easy", ["dispatcher=prb"]),
        (CERIT_SC, "cerit-easy", ["dispatcher={name: easy, allocator: hybrid}"]),
    ],
)
def test_whole_logs(log: str, name: str, more: list[str], tmp_path: Path) -> None:
    """All jobs of a log."""
    trace(log)
    check(name, more, tmp_path)
