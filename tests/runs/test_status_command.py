"""`hpcsched status` tells whether a run goes on."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.runs.run_status import read_state
from tests.slow_runs import COMMAND, seen_under_way

SCENARIO = """\
name: looked-at
system: {groups: [{name: node, count: 10, resources: {core: 4}}]}
trace: {source: swf, path: jobs.swf}
predictor: PREDICTOR
dispatcher: {name: list, option: backfill}
"""
PATIENCE = 120


def write_scenario(folder: Path, jobs: int, predictor: str = "requested-time") -> Path:
    """Write a scenario and its trace; return the scenario's path."""
    lines = (
        f"{n} {n * 40} -1 {60 + n * 37 % 900} {1 + n % 7} -1 -1 {1 + n % 7} 2000"
        " -1 1 1 1 1 1 1 -1 -1\n"
        for n in range(1, jobs + 1)
    )
    (folder / "jobs.swf").write_text("".join(lines))
    (folder / "scenario.yaml").write_text(SCENARIO.replace("PREDICTOR", predictor))
    return folder / "scenario.yaml"


def status(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """Return what the command says of a run, as JSON and as text."""
    assert main(["status", str(folder), "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert main(["status", str(folder)]) == 0
    return content, capsys.readouterr().out


def test_a_complete_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what became of the jobs; there is no state left."""
    scenario, out = write_scenario(tmp_path, 100), tmp_path / "out"
    assert main(["run", str(scenario), "--out", str(out)]) == 0
    assert read_state(out) is None
    capsys.readouterr()
    content, text = status(out, capsys)
    assert (content["status"], content["state"]) == ("complete", None)
    assert content["jobs"]["completed"] == 100
    assert text.startswith("looked-at: complete\n")
    assert "100 submitted, 100 completed" in text


def test_a_run_that_goes_on_and_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another process sees it come along; when it is killed, it sees that too."""
    scenario, out = write_scenario(tmp_path, 100_000, "slow"), tmp_path / "out"
    command = [*COMMAND, "run", str(scenario), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, text=True) as process:
        seen_under_way(out, process, PATIENCE)
        content, text = status(out, capsys)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    assert content["status"] == "running"
    assert content["state"]["pid"] == process.pid
    assert content["state"]["phase"] == "replaying"
    assert 0 < content["state"]["ended"] < 100_000
    assert 0 < content["state"]["resources"]["core"]["used"] <= 40
    assert text.startswith("looked-at: running\n")
    content, text = status(out, capsys)
    assert content["status"] == "gone"
    assert text.startswith("looked-at: its process is gone")
    # A new run takes the place of what is left.
    assert main(["run", str(write_scenario(tmp_path, 50)), "--out", str(out), "--force"]) == 0
    assert not (out / "state.json").exists()


def test_not_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says so."""
    assert main(["status", str(tmp_path)]) == 1
    assert "it is not a run directory" in capsys.readouterr().err
    assert main(["status", str(tmp_path / "none")]) == 1
    assert "it is not a directory" in capsys.readouterr().err
