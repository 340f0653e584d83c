"""Every dispatcher and solver where nodes are serviced and fail, and power is capped, all at once.

The scenario is the one that comes with the project, from the second Monday at 3:00 on: maintenance
from 6:00 to 10:00, and a cap that falls at noon. Nodes fail more often than there, so that attempts
are lost among the few jobs that are replayed.
"""

import gzip
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.dispatching.cp.cp_params import CpParams
from hpcsched.plugins.manager import build_registry
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.run_result import RunResult
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = Path(__file__).parents[2] / "scenarios" / "small-maintenance-power.yaml"
TRACE = SCENARIO.parent / "traces" / "small-cluster.swf.gz"
JOBS = 30
SHORTENED = (
    "trace.transforms=[{name: sample-users, share: 0.33},"
    f" {{name: window, start: 7d3h, shift: false}}, {{name: first, jobs: {JOBS}}}]",
    "outages.failures[0].mean_up_time=10h",
)
PLUGINS = [installed.plugin for installed in build_registry(external=False).of_kind("dispatcher")]
DISPATCHERS = [
    plugin.name
    for plugin in PLUGINS
    if FOLLOWS_RECORD not in plugin.capabilities  # which goes with neither
]
SOLVING = {plugin.name for plugin in PLUGINS if issubclass(plugin.params, CpParams)}
MODULES = {"choco": "pychoco", "exact": "exact", "pumpkin": "pumpkin_solver", "z3": "z3"}
"""The modules that solvers need which are no part of every installation."""


def audited(folder: Path, *overrides: str, count: int = JOBS) -> tuple[RunResult, dict[str, Any]]:
    """Run the scenario with `verify` finding nothing and no job lost; return the account, too."""
    given = [*SHORTENED, f"trace.transforms[2].jobs={count}", *overrides]
    scenario = load_scenario(SCENARIO, given, build_registry(external=False))
    result = run(scenario, folder / "run")
    report = audit_directory(result.directory)
    assert report.ok, [check for check in report.checks if check.violations]
    jobs = result.summary["jobs"]
    assert jobs["submitted"] == count == result.jobs.num_rows
    assert jobs["read"] == jobs["submitted"] + sum(jobs["skipped"].values())
    states = ("completed", "killed", "rejected", "failed")
    assert sum(jobs[state] for state in states) == count
    return result, jobs


@pytest.mark.parametrize("name", DISPATCHERS)
def test_every_dispatcher(tmp_path: Path, name: str) -> None:
    """All jobs complete, unless they are refused, and the audit finds nothing."""
    # Solvers have fewer jobs, look a few ahead and start no process: the test takes less long.
    solves = name in SOLVING
    few = ["dispatcher.queue_length=5", "dispatcher.guard=null"] if solves else []
    count = JOBS // 2 if solves else JOBS
    _, jobs = audited(tmp_path, f"dispatcher={name}", *few, count=count)
    assert jobs["rejected" if name == "reject" else "completed"] == count


@pytest.mark.parametrize(
    "solver",
    [
        "choco",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("exact", "pumpkin", "z3")),
    ],
)
def test_every_solver(tmp_path: Path, solver: str) -> None:
    """The same with each of the other solvers that are installed, on models that are small."""
    if find_spec(MODULES[solver]) is None:
        pytest.skip(f"{solver} is not installed")
    small = "dispatcher.queue_length=3"
    chosen = "dispatcher=cp", f"dispatcher.solver={{name: cpmpy, solver: {solver}}}", small
    _, jobs = audited(tmp_path, *chosen, count=JOBS // 2)
    assert jobs["completed"] == JOBS // 2


def test_all_of_it_took_place(tmp_path: Path) -> None:
    """Jobs wait for the end of maintenance, and for power; some lose a node and run again."""
    result, _ = audited(tmp_path, "observers=[reasons]")
    assert result.summary["outages"]["requeued"] > 0
    reasons = pq.read_table(result.directory.path / "reasons.parquet").to_pylist()
    found = {(row["kind"], row["detail"] or "") for row in reasons}
    assert any(kind == "outage" and "maintenance monday" in detail for kind, detail in found)
    assert ("no_room", "shared resource power") in found


@pytest.mark.parametrize("name", ["easy", "order-search"])
def test_with_dependencies(tmp_path: Path, name: str) -> None:
    """Where a job also waits for its user's last one to end, and for ten minutes more."""
    trace = tmp_path / "chained.swf"
    trace.write_text("\n".join(chained()), encoding="utf-8")
    result, jobs = audited(
        tmp_path, f"dispatcher={name}", f"trace.path={trace}", "trace.dependencies=honour"
    )
    assert jobs["completed"] == JOBS
    ends = {row["job_id"]: row["end_time"] for row in result.jobs.to_pylist()}
    last: dict[int, int] = {}
    held = 0
    for row in sorted(result.jobs.to_pylist(), key=lambda row: row["job_id"]):
        if row["user"] in last:
            assert row["start_time"] >= ends[last[row["user"]]] + 600
            held += row["submit_time"] < ends[last[row["user"]]]
        last[row["user"]] = row["job_id"]
    assert held > 0  # some were submitted before they could start


def chained() -> list[str]:
    """Return the small trace with each job waiting for the one before it of the same user."""
    lines, last = [], {}
    for line in gzip.decompress(TRACE.read_bytes()).decode().splitlines():
        if not line.startswith(";"):
            fields = line.split()
            fields[16], fields[17] = last.get(fields[11], "-1"), "600"
            last[fields[11]] = fields[0]
            line = " ".join(fields)  # noqa: PLW2901 (the same line, chained)
        lines.append(line)
    return lines
