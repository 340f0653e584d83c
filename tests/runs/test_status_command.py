"""`hpcsched status` tells whether a run goes on, and `--watch` changes nothing of it."""

import json
import os
import signal
import subprocess
import sys
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


def test_watching_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal there are lines; results have the same bytes."""
    scenario = write_scenario(tmp_path, 300)
    assert main(["run", str(scenario), "--out", str(tmp_path / "plain")]) == 0
    plain = capsys.readouterr()
    assert main(["run", str(scenario), "--out", str(tmp_path / "watched"), "--watch"]) == 0
    watched = capsys.readouterr()
    first, *_, last = watched.err.splitlines()
    assert first.startswith("looked-at: preparing; ")
    assert "0 waiting, 0 running, 300 ended" in last
    assert plain.err == ""
    assert watched.out == plain.out.replace("plain", "watched")
    for name in ("jobs.parquet", "scenario.yaml", "summary.json"):
        assert (tmp_path / "plain" / name).read_bytes() == (
            tmp_path / "watched" / name
        ).read_bytes()


def test_on_a_terminal(tmp_path: Path) -> None:
    """The screen is drawn on standard error, and the results alone are on standard output."""
    scenario = write_scenario(tmp_path, 300)
    command = [sys.executable, "-c", "from hpcsched.cli import main; raise SystemExit(main())"]
    command += ["run", str(scenario), "--out", str(tmp_path / "out"), "--watch"]
    reading, terminal = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment
    ) as process:
        os.close(terminal)
        drawn = b""
        while True:
            try:
                part = os.read(reading, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            drawn += part
        out, _ = process.communicate(timeout=PATIENCE)
    os.close(reading)
    assert process.returncode == 0
    assert b"simulated time" in drawn and b"decisions" in drawn
    assert out.startswith("300 records read")


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
    assert content["process_alive"] is True
    assert content["state"]["process"]["pid"] == process.pid
    assert content["state"]["phase"] == "replaying"
    assert 0 < content["state"]["ended"] < 100_000
    assert 0 < content["state"]["resources"]["core"]["utilization_last_day"] <= 1
    assert text.startswith("looked-at: running\n")
    content, text = status(out, capsys)
    assert (content["status"], content["process_alive"]) == ("gone", False)
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
