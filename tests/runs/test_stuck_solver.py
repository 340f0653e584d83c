"""Runs end soon after a signal whatever their solver does, and tell of solvers that died."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hpcsched.cli import main
from tests.solver_plugins import NOTE, hopeless_solver

COMMAND = (
    sys.executable,
    "-c",
    "from hpcsched.cli import main; from tests.solver_plugins import hopeless_solver\n"
    "with hopeless_solver(): raise SystemExit(main())",
)
SCENARIO = """\
name: stuck
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
dispatcher: {name: cp, solver: SOLVER, guard: GUARD}
observers: [event-log, reasons]
objective: af
"""
JOBS = "".join(
    f"{n} {n * 10} -1 {30 + n * 17 % 90} {1 + n % 4} -1 -1 {1 + n % 4} 200 -1 1 1 1 1 1 1 -1 -1\n"
    for n in range(1, 21)
)
PATIENCE = 60
"""Real seconds up to a step; the watchdog of the solver would come after ten times as many."""


def scenario(folder: Path, solver: str, guard: str) -> Path:
    """Write a scenario with a solver, and its trace."""
    (folder / "trace.swf").write_text(JOBS)
    path = folder / "stuck.yaml"
    path.write_text(SCENARIO.replace("SOLVER", solver).replace("GUARD", guard))
    return path


@pytest.mark.parametrize(
    ("number", "guard"),
    [
        (signal.SIGTERM, "600"),
        pytest.param(signal.SIGINT, "600", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "null", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "null", marks=pytest.mark.slow),
    ],
)
def test_a_solver_that_does_not_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, guard: str
) -> None:
    """The run ends all the same; if the solver has a process of its own, its results are kept."""
    note, out = tmp_path / "note", tmp_path / "out"
    monkeypatch.setenv(NOTE, str(note))
    path = scenario(tmp_path, "stuck", guard)
    command = [*COMMAND, "run", str(path), "--out", str(out), "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + PATIENCE
        while not note.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    status = json.loads((out / "manifest.json").read_text())["status"]
    last = said.splitlines()[-1]
    if guard == "null":
        assert (status, last) == (
            "running",
            "interrupted in a solver that does not return, so that no results are kept",
        )
        return
    assert (status, last) == (
        "interrupted",
        f"interrupted; what was done until then is in {out}",
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
    with hopeless_solver():
        assert main(["verify", str(out)]) == 0


def test_a_solver_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Later rounds are solved; the first line and the manifest tell, and `verify` agrees."""
    monkeypatch.setenv(NOTE, str(tmp_path / "note"))
    path, out = scenario(tmp_path, "killed", "60"), tmp_path / "out"
    with hopeless_solver():
        assert main(["run", str(path), "--out", str(out)]) == 0
        said = capsys.readouterr().out.splitlines()
        assert main(["verify", str(out)]) == 0
        manifest = json.loads((out / "manifest.json").read_text())
        manifest["not_reproducible_because"], manifest["reproducible"] = [], True
        (out / "manifest.json").write_text(json.dumps(manifest))
        assert main(["verify", str(out)]) == 1
    why = "in 1 round the solver's process died, did not start or overran its limit"
    assert said[0] == f"not reproducible: {why}"
    statuses = json.loads((out / "summary.json").read_text())["rounds"]["solver"]
    assert statuses["failed"] == 1
    assert statuses["optimal"] > 1
