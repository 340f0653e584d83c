"""Dispatchers that plan, on real and made-up logs: all jobs accounted for, every round audited."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hpcsched.cli import main
from hpcsched.dispatching.cp.cp_params import CpParams
from hpcsched.plugins.manager import build_registry
from tests.real_traces import KTH_SP2, trace

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NAMES = [
    installed.plugin.name
    for installed in build_registry(external=False).of_kind("dispatcher")
    if issubclass(installed.plugin.params, CpParams)
]
ANSWERED = ("optimal", "feasible")


def audited(scenario: str, out: Path, *settings: str) -> dict[str, Any]:
    """Replay a scenario, have the run audited, and return its summary."""
    sets = [word for setting in settings for word in ("--set", setting)]
    assert main(["run", str(SCENARIOS / f"{scenario}.yaml"), "--out", str(out), *sets]) == 0
    assert main(["verify", str(out)]) == 0
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return summary


@pytest.mark.parametrize("objective", ["bounded_slowdown", "awf", "psf"])
def test_order_search_on_cerit_sc(objective: str, tmp_path: Path) -> None:
    """Cores and memory on two kinds of node, in the order that costs least."""
    trace("CERIT-SC-2013.swf.gz")
    settings = ("trace.jobs=300", "dispatcher=order-search", f"objective={objective}")
    summary = audited("cerit-joint-now", tmp_path / "out", *settings)
    assert summary["jobs"]["completed"] == 300
    assert summary["rounds"]["fallbacks"] == 0


def test_order_search_on_slots_and_on_nodes(tmp_path: Path) -> None:
    """The first 1,000 jobs of KTH-SP2 start at the same times, however what is free is kept."""
    trace(KTH_SP2)
    found = []
    for aggregated in ("true", "false"):
        settings = (
            "trace.jobs=1000",
            "dispatcher={name: order-search, budget: 20000}",
            "objective=awf",
            f"simulation.aggregate_nodes={aggregated}",
        )
        audited("kth-easy", tmp_path / aggregated, *settings)
        table = pq.read_table(
            tmp_path / aggregated / "jobs.parquet", columns=["job_id", "start_time"]
        )
        found.append(table.to_pylist())
    assert len(found[0]) == 1000
    assert found[0] == found[1]


def check(summary: dict[str, Any], jobs: int) -> None:
    """Check that all jobs ended, and that a solver was asked and answered."""
    assert summary["jobs"]["submitted"] == summary["jobs"]["completed"] == jobs
    solver = summary["rounds"]["solver"]
    assert solver.get("optimal", 0) + solver.get("feasible", 0) > 0
    unsolved = sum(count for status, count in solver.items() if status not in ANSWERED)
    assert summary["rounds"]["fallbacks"] >= unsolved


@pytest.mark.slow
@pytest.mark.parametrize("dispatcher", NAMES)
def test_cerit_sc(dispatcher: str, tmp_path: Path) -> None:
    """Cores and memory on two kinds of node: the start of a real log, ten times as dense.

    As it is, all of these jobs find room as they come, and no solver is asked.
    """
    trace("CERIT-SC-2013.swf.gz")
    dense = "trace.transforms=[{name: scale-load, factor: 10}]"
    settings = ("trace.jobs=300", dense, f"dispatcher={dispatcher}")
    check(audited("cerit-joint-now", tmp_path / "out", *settings), 300)


@pytest.mark.slow
@pytest.mark.parametrize("dispatcher", NAMES)
def test_a_crowded_day_on_eurora(dispatcher: str, tmp_path: Path) -> None:
    """Four resource types, GPUs and MICs on half of the nodes each."""
    settings = ("trace.jobs=150", f"dispatcher={dispatcher}")
    check(audited("eurora-day-joint-now", tmp_path / "out", *settings), 150)


def test_kth_sp2(tmp_path: Path) -> None:
    """A real log of one resource type under HCP'19."""
    trace("KTH-SP2-1996-2.swf.gz")
    check(audited("kth-hcp19", tmp_path / "out", "trace.jobs=400"), 400)
