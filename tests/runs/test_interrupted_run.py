"""Ctrl-C and SIGTERM leave a run directory that is valid, says so, and passes the audit."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from hpcsched.cli import main
from tests.slow_runs import COMMAND, seen_under_way, slow_predictor

SCENARIO = """\
name: interrupted
system: {groups: [{name: node, count: 10, resources: {core: 4}}]}
trace: {source: swf, path: long.swf}
predictor: slow
dispatcher: {name: list, option: backfill}
observers: [event-log, reasons]
"""
JOBS = 20_000
"""Jobs of a run of ten seconds at least, see `SECONDS_EACH`."""
PATIENCE = 120


def test_a_killed_run_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command does without `--force`, and says what it replaces."""
    (tmp_path / "long.swf").write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    text = SCENARIO.replace("predictor: slow\n", "")
    (tmp_path / "scenario.yaml").write_text(text)
    out = tmp_path / "out"
    command = ["run", str(tmp_path / "scenario.yaml"), "--out", str(out)]
    assert main(command) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    # As it was until the process was killed, in the middle of a table.
    (out / "manifest.json").write_text(json.dumps({**manifest, "status": "running", "files": {}}))
    (out / "jobs.parquet").write_bytes(b"PAR1")
    assert main(command) == 0
    assert f"{out}: replacing the run in it, which was killed" in capsys.readouterr().err
    assert main(["verify", str(out)]) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_can_be_read_and_verified(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The exit code is 130, the account balances, and `verify` finds nothing wrong."""
    lines = (
        f"{n} {n * 40} -1 {60 + n * 37 % 900} {1 + n % 7} -1 -1 {1 + n % 7} 2000"
        " -1 1 1 1 1 1 1 -1 -1\n"
        for n in range(1, JOBS + 1)
    )
    (tmp_path / "long.swf").write_text("".join(lines))
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    out = tmp_path / "out"
    command = [*COMMAND, "run", str(tmp_path / "scenario.yaml"), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        seen_under_way(out, process, PATIENCE)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1] == f"interrupted; what was done until then is in {out}"
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    jobs = json.loads((out / "summary.json").read_text())["jobs"]
    assert 0 < jobs["completed"] < JOBS
    states = ("completed", "killed", "rejected", "waiting", "running")
    assert jobs["submitted"] == sum(jobs[state] for state in states)
    skipped = sum(jobs["skipped"].values())
    assert jobs["read"] == jobs["submitted"] + jobs["not_yet_submitted"] + skipped
    with slow_predictor():
        assert main(["verify", str(out)]) == 0
