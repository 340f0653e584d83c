"""`hpcsched live` as a command, on a cluster in a file, and its replay."""

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hpcsched.cli import main
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.cluster import ClusterState, StateFile, UnavailableError
from tests.solver_plugins import hopeless_solver

SCENARIO = """name: live
system:
  groups:
    - {name: a, count: 2, resources: {core: 4}}
trace: {source: swf, path: history.swf}
dispatcher: easy
live:
  workload_manager: {name: state-file, path: state.json}
  partitions: [main]
  nodes: {a: "a[1-2]"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a scenario, a history and a state."""
    (tmp_path / "live.yaml").write_text(SCENARIO)
    (tmp_path / "history.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
    nodes = [{"name": name, "resources": {"core": 4}} for name in ("a1", "a2", "b1")]
    jobs = [
        {
            "key": str(number), "job_id": number, "phase": "waiting", "partition": "main",
            "submit_time": 1_000_000, "requested_time": 600, "units": 1, "amounts": {"core": 3},
            "why": "Priority",
        }
        for number in (11, 12, 13)
    ]  # fmt: skip
    (tmp_path / "state.json").write_text(json.dumps({"nodes": nodes, "jobs": jobs}))
    return tmp_path


def test_advises(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It shows what would start where, and why, and leaves a run directory that others read."""
    out = folder / "run"
    assert main(["live", "advise", str(folder / "live.yaml"), "--out", str(out)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["11", "a1", "in_order", "Priority"] in rows
    assert ["12", "a2", "in_order", "Priority"] in rows
    assert ["13", "-", "no_room", "Priority"] in rows
    assert RunDirectory.open(out).manifest.status == "interrupted"
    assert main(["explain", str(out), "13"]) == 0
    assert "there was no room" in capsys.readouterr().out
    assert len((out / "advice.jsonl").read_text().splitlines()) == 2


def test_warns_of_a_solver_without_a_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No list plan says that all is well, so the solver is asked in the one round, and fails."""
    scenario, out = folder / "live.yaml", folder / "run"
    failing = "{name: joint-now, solver: hopeless, guard: null, orders: []}"
    scenario.write_text(SCENARIO.replace("dispatcher: easy", f"dispatcher: {failing}"))
    with hopeless_solver():
        assert main(["live", "advise", str(scenario), "--out", str(out)]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"{scenario}:6:13: warning: dispatcher: 1 of 1 rounds with a solver had no plan: failed 1;"
        " above 10 % figures tell of the fallback rather than of the solver: check that the solver"
        " works; it said first, in round 1: solver hopeless"
        " (tests 0): ValueError: no luck [solver-without-plan]"
    )


def test_nothing_can_be_driven_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No job of it is held, so none is placed; the journal stays empty."""
    arguments = ["live", "drive", str(folder / "live.yaml"), "--rounds", "1"]
    assert main([*arguments, "--for", "1", "--out", str(folder / "run")]) == 0
    assert (folder / "live" / "journal.jsonl").read_text() == ""
    assert (folder / "live" / "heartbeat.json").exists()
    assert "starts on" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "a[1-2]",
            "a[1-3]",
            "live.yaml:10:14: error: live.nodes.a: the group a has 2 nodes, and 3",
        ),
        (
            "a[1-2]",
            "a[2-1]",
            "live.yaml:10:14: error: live.nodes.a: expected a range such as 1-3, found '2-1'",
        ),
        ("a[1-2]", "a1,a1", "the node a1 is named twice"),
        ("{a: ", "{c: ", "the system has no node group 'c'"),
        ("dispatcher: easy", "dispatcher: easy\npredictor: actual", "which no real cluster knows"),
        ("a[1-2]", "a[8-9]", "the cluster has no node a8"),
        ("name: state-file", "name: stat-file", "did you mean 'state-file'?"),
        ("partitions: [main]", "partitions: []", "live.partitions"),
    ],
)
def test_bad_scenarios(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, expected: str
) -> None:
    """What does not go with a cluster is said in one line."""
    path = folder / "live.yaml"
    path.write_text(SCENARIO.replace(old, new))
    assert main(["live", "advise", str(path), "--out", str(folder / "run")]) == 1
    assert expected in capsys.readouterr().err


def test_a_damaged_state(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A state that cannot be read is one line."""
    (folder / "state.json").write_text('{"nodes": []}')
    assert main(["live", "advise", str(folder / "live.yaml"), "--out", str(folder / "run")]) == 1
    assert "state.json: error: it is damaged: jobs" in capsys.readouterr().err


def test_replays_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The jobs of a run are simulated again, and the same dispatcher starts them at those times."""
    lines = [
        f"{n} {n} 0 {5 + n % 7} 1 -1 -1 {1 + n % 4} 20 -1 1 1 1 1 1 1 -1 -1" for n in range(1, 30)
    ]
    (folder / "history.swf").write_text("\n".join(lines) + "\n")
    path = folder / "live.yaml"
    run(load_scenario(path), folder / "run")
    capsys.readouterr()
    arguments: list[Any] = ["live", "replay", path, folder / "run", "--latency", 0]
    assert main([str(a) for a in [*arguments, "--out", folder / "again"]]) == 0
    printed = capsys.readouterr().out
    assert "29 jobs, live and simulated" in printed
    assert "largest                           0 s" in printed


def test_replays_what_waited_before(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs that were there before the first round start no sooner than it, in a replay as well."""
    lines = [f"{n} {n} 0 {5 + n % 7} 1 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1" for n in range(1, 30)]
    (folder / "history.swf").write_text("\n".join(lines) + "\n")
    path = folder / "live.yaml"
    closed = "outages={maintenance: [{name: before, start: 0, duration: 9}]}"
    late = run(load_scenario(path, ["live=null", closed]), folder / "run").directory
    rounds = folder / "run" / "rounds.parquet"
    table = pq.read_table(rounds)
    pq.write_table(table.filter(pc.field("now") >= 9), rounds)
    assert min(late.jobs.read("start_time")["start_time"].to_pylist()) == 9
    arguments: list[Any] = ["live", "replay", path, folder / "run", "--latency", 0]
    assert main([str(a) for a in [*arguments, "--out", folder / "again"]]) == 0
    assert "largest                           0 s" in capsys.readouterr().out


def test_the_mode_is_a_subcommand(folder: Path) -> None:
    """No mode, or one as an option, is wrong usage."""
    path = str(folder / "live.yaml")
    for options in ([], ["--advise"]):
        assert main(["live", path, *options]) == 2


def test_a_driver_waits_for_the_cluster(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says once that the cluster cannot be read yet; advice ends with the error."""
    read, away = StateFile.read, [True, True, True]

    def read_later(self: StateFile) -> ClusterState:
        if away:
            away.pop()
            raise UnavailableError("nobody answers")
        return read(self)

    monkeypatch.setattr(StateFile, "read", read_later)
    monkeypatch.setattr("hpcsched_slurm.live.session.time.sleep", lambda _seconds: None)
    arguments = [str(folder / "live.yaml"), "--out", str(folder / "run")]
    assert main(["live", "advise", *arguments]) == 1
    assert capsys.readouterr().err == "error: nobody answers\n"
    assert main(["live", "drive", *arguments, "--for", "0"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "the cluster cannot be read, and is tried again until it can: nobody answers",
        "the cluster can be read again",
    ]
