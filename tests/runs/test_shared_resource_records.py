"""Shared resources in a run directory: draws, sums, and an audit that finds faults."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.dispatching.decision import Decision, Start
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.simulation.check import check_decision
from hpcsched.studies.problems.problem_files import InstancesFile
from hpcsched.studies.problems.problem_files import record as save
from hpcsched.system.space import NodeAllocation
from tests.runs.hand_made import messages, tamper_jobs, tamper_json
from tests.workload.readers.swf_files import record, write

# Three nodes of 2 cores; a core draws 10 W and a node 5 W more. From second 10 on there are 30 W
# instead of 60 W. Each job takes a licence for each of its units.
SCENARIO = """\
name: shared-resources
system:
  groups: [{name: node, count: 3, resources: {core: 2}}]
  shared_resources:
    - name: power
      capacity: 60
      draw: {per: {core: 10}, per_node: 5}
      changes: [{at: 10, capacity: 30}]
    - {name: licence, capacity: 4, draw: as_the_trace_says}
trace: {source: swf, path: log.swf, unit: {core: 1, licence: 1}, missing_requested_time: 8}
dispatcher: easy
"""
# Number, submit time, run time, units, requested time.
JOBS = (
    (1, 0, 12, 1, 8),  # 15 W; is said to be over before the cap falls, and is not
    (2, 1, 20, 2, 20),  # 20 W and up to two nodes
    (3, 2, 4, 2, 4),  # waits for licences and power
    (4, 3, 4, 3, 4),  # would draw more than 30 W
    (5, 4, 5, 1, 5),
)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a scenario of five jobs."""
    lines = [record(number, *rest) for number, *rest in JOBS]
    write(tmp_path, lines)
    path = tmp_path / "shared-resources.yaml"
    path.write_text(SCENARIO.replace("log.swf,", "log.swf, over_requested_time: keep,"))
    return path


def test_what_is_drawn(scenario: Path, tmp_path: Path) -> None:
    """Job 1 draws 10 + 5 W on node 0; job 2 beside it and on node 1 draws 20 + 5 W more.

    At 4 there is power for job 5, until 9; on node 1, which is on, it draws 10 W. When job 1 ends,
    node 0 stays on for job 2. Job 3 could draw 30 W, as the first charge is for two nodes; when job
    2 has ended it starts, and draws 20 + 5 W on node 0.
    """
    result = run(load_scenario(scenario), tmp_path / "run")
    jobs = {row["job_id"]: row for row in result.jobs.to_pylist()}
    starts = {number: row["start_time"] for number, row in jobs.items()}
    assert starts == {1: 0, 2: 1, 3: 21, 4: None, 5: 4}
    assert jobs[4]["rejected_by"] == "over_shared_resource"
    levels = pq.read_table(tmp_path / "run" / "shared_resources.parquet").to_pylist()
    power = [(row["time"], row["drawn"]["power"], row["offered"]["power"]) for row in levels]
    assert power == [
        (0, 15, 60),
        (1, 40, 60),
        (4, 50, 60),
        (9, 40, 60),
        (10, 40, 30),
        (12, 30, 30),
        (21, 25, 30),
        (25, 0, 30),
    ]
    licences = [row["drawn"]["licence"] for row in levels]
    assert licences == [1, 3, 4, 3, 3, 2, 2, 0]
    energy = 15 + 40 * 3 + 50 * 5 + 40 * 3 + 30 * 9 + 25 * 4
    assert result.summary["shared_resources"]["power"] == {
        "energy": energy,
        "mean": energy / 25,
        "peak": 50,
        "over_cap_time": 2,
        "over_cap_energy": 20,
        "over_cap_peak": 10,
    }
    assert result.summary["jobs"]["rejected_by"] == {"over_shared_resource": 1}
    assert audit_directory(RunDirectory.open(tmp_path / "run")).ok


def test_what_is_drawn_while_a_decision_is_pending(scenario: Path, tmp_path: Path) -> None:
    """Job 1 ends at 9, between the round of 6, which is for job 2, and its decision at 11."""
    write(tmp_path, [record(1, 0, 4, 1, 4), record(2, 6, 10, 1, 10)])
    latency = "simulation.dispatch_latency={fixed: 5}"
    result = run(load_scenario(scenario, [latency]), tmp_path / "run")
    levels = pq.read_table(tmp_path / "run" / "shared_resources.parquet").to_pylist()
    power = [(row["time"], row["drawn"]["power"], row["offered"]["power"]) for row in levels]
    assert power == [(0, 0, 60), (5, 15, 60), (9, 0, 60), (10, 0, 30), (11, 15, 30), (21, 0, 30)]
    assert result.summary["shared_resources"]["power"]["energy"] == 15 * 4 + 15 * 10
    assert audit_directory(RunDirectory.open(tmp_path / "run")).ok


@pytest.mark.slow
def test_energy_of_a_thousand_jobs_with_dispatch_latency(tmp_path: Path) -> None:
    """It is what the starts and ends of the jobs come to, which `verify` adds up again."""
    path = Path(__file__).parents[2] / "scenarios" / "small-power.yaml"
    changes = "trace.jobs=1000", "simulation.dispatch_latency={fixed: 600}"
    result = run(load_scenario(path, changes), tmp_path / "run")
    assert result.summary["shared_resources"]["power"]["energy"] == 2_897_096_855
    assert audit_directory(RunDirectory.open(tmp_path / "run")).ok


def test_what_an_audit_finds(scenario: Path, tmp_path: Path) -> None:
    """A start that overdraws a shared resource, and figures that are not right."""
    folder = tmp_path / "run"
    run(load_scenario(scenario), folder)

    def starts_sooner(rows):
        """Have job 3 start beside job 2, where licences and nodes allow it, and power does not."""
        for row in rows:
            if row["job_id"] == 3:
                row["start_time"], row["end_time"] = 13, 17
                row["nodes"], row["node_units"] = [2], [2]

    tamper_jobs(RunDirectory.open(folder), starts_sooner)
    found = messages(audit_directory(RunDirectory.open(folder)))
    assert "second 13: expected at most 30 of power to be drawn where jobs start, found 55" in found
    assert "shared_resources.power.peak: expected 55, found 50" in found


def test_a_figure_that_is_not_right(scenario: Path, tmp_path: Path) -> None:
    """Each figure of a shared resource is worked out again."""
    folder = tmp_path / "run"
    result = run(load_scenario(scenario), folder)
    for name, value in result.summary["shared_resources"]["power"].items():
        summary = folder / "summary.json"
        before = summary.read_bytes()
        wrong = {name: value + 1}
        tamper_json(
            summary, lambda content, wrong=wrong: content["shared_resources"]["power"].update(wrong)
        )
        found = messages(audit_directory(RunDirectory.open(folder)))
        assert f"shared_resources.power.{name}: expected {value}, found {value + 1}" in found
        summary.write_bytes(before)


def test_shared_resources_are_told_by_node(scenario: Path) -> None:
    """Slots know of no shared resources, although all jobs ask for the same."""
    assembly = assemble(load_scenario(scenario))
    assert assembly.source.uniform_request == (1,)
    assert parts_of(assembly, ()).uniform_request is None


def test_equal_runs_give_equal_bytes(scenario: Path, tmp_path: Path) -> None:
    """So does `shared_resources.parquet`."""
    for name in ("one", "two"):
        run(load_scenario(scenario), tmp_path / name)
    one, two = (
        (tmp_path / name / "shared_resources.parquet").read_bytes() for name in ("one", "two")
    )
    assert one == two


def test_saved_problems_have_shared_resources(scenario: Path, tmp_path: Path) -> None:
    """What is free and drawn is the same when they are read."""
    target = tmp_path / "problems.jsonl.gz"
    save(load_scenario(scenario), target)
    problems = list(InstancesFile(target).problems())
    assert [problem.now for problem in problems][:3] == [0, 1, 2]
    shared_resources = problems[2].shared_resources
    assert shared_resources.free.tolist() == [20, 1]
    assert shared_resources.draws.tolist() == [[30, 2]]


def test_columns_of_a_log_that_are_of_shared_resources(scenario: Path, tmp_path: Path) -> None:
    """The header names a shared resource beside the resource types."""
    lines = ["; UnitResources: core licence", *(record(k, k, more=f"1 {k}") for k in (1, 2, 3))]
    write(tmp_path, lines)
    loaded = load_scenario(scenario, ["trace.unit=null"])
    result = run(loaded, tmp_path / "run")
    assert result.summary["shared_resources"]["licence"]["peak"] == 3
    assert result.summary["jobs"]["completed"] == 3


def test_a_unit_that_asks_for_a_shared_resource_with_a_model(
    scenario: Path, tmp_path: Path
) -> None:
    """Only of a shared resource of which the trace tells a unit can ask for anything."""
    loaded = load_scenario(scenario, ["trace.unit={core: 1, power: 3}"])
    with pytest.raises(
        InputError, match="a unit asks for power, a shared resource from which jobs draw by"
    ):
        run(loaded, tmp_path / "run")


def test_a_decision_about_a_saved_problem_that_overdraws(scenario: Path, tmp_path: Path) -> None:
    """It is found out as in a replay: job 3 would draw more power than is left."""
    target = tmp_path / "problems.jsonl.gz"
    save(load_scenario(scenario), target)
    problem = list(InstancesFile(target).problems())[2]
    decision = Decision((Start(3, NodeAllocation((2,), (2,))),))
    with pytest.raises(
        ValueError, match="job 3, shared resource power: 25 would be drawn, 20 free"
    ):
        check_decision(problem, decision)
    assert check_decision(problem, Decision()) == ()
