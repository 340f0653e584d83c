"""Cells run in processes of their own, are kept, run anew, and fail alone."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import execution
from experiments.debs2024.cells import cells
from experiments.execution import PROGRAM, Execution
from tests.experiments.samples import (
    DECLARATION,
    JOBS_OF_LOG,
    cell_named,
    experiment_in,
    write_run,
)

PATIENCE = 60


def outcomes(chosen, jobs=2, **options):
    """Run cells and return their outcomes by name."""
    return {done.cell.name: done for done in Execution(**options).outcomes(chosen, jobs)}


def test_cells_run_and_are_kept(tmp_path):
    """What is missing, changed or was broken off is run, and nothing else unless that is wanted."""
    experiment = experiment_in(tmp_path)
    out = tmp_path / "out"
    for name in ("actual/REG", "actual/EASY", "requested-time/REG"):
        write_run(cell_named(experiment, out, name), {})
    write_run(cell_named(experiment, out, "actual/SJF+"), {}, status="interrupted")
    first = outcomes(cells(experiment, out))
    assert {name: done.status for name, done in first.items()} == {
        "actual/REG": "kept",
        "actual/SJF+": "done",
        "actual/EASY": "kept",
        "requested-time/REG": "kept",
        "requested-time/SJF+": "done",
    }
    assert not list(out.rglob("*.log"))
    for name in ("actual/SJF+", "requested-time/SJF+"):
        summary = json.loads((out / name / "summary.json").read_text())
        assert summary["jobs"]["completed"] == JOBS_OF_LOG

    changed = experiment_in(tmp_path, DECLARATION.replace("order: sjf", "order: saf"))
    again = [cell_named(changed, out, name) for name in ("actual/SJF+", "requested-time/REG")]
    assert [done.status for done in outcomes(again, 1).values()] == ["done", "kept"]
    (forced,) = outcomes(again[:1], again=True).values()
    assert forced.status == "done"


def test_a_cell_fails_alone(tmp_path):
    """Whether its scenario is not valid or its run fails, the others go on."""
    text = DECLARATION.replace("name: list, order: sjf", "name: lost").replace(
        "halves: [actual]", "halves: [actual], simulation: {pooling: 1}"
    )
    experiment = experiment_in(tmp_path, text)
    found = outcomes(cells(experiment, tmp_path / "out"))
    assert {name: done.status for name, done in found.items()} == {
        "actual/REG": "done",
        "actual/SJF+": "failed",
        "actual/EASY": "failed",
        "requested-time/REG": "done",
        "requested-time/SJF+": "failed",
    }
    assert "no dispatcher is called 'lost'" in found["actual/SJF+"].message
    assert "expected true or false" in found["actual/EASY"].message


def test_a_run_that_fails(tmp_path):
    """The last line that its process wrote says why, and its output is kept."""
    experiment = experiment_in(tmp_path)
    with (tmp_path / "log.swf").open("a") as log:
        log.write("not a job\n")
    cell = cell_named(experiment, tmp_path / "out", "actual/REG")
    (failed,) = outcomes([cell]).values()
    log = tmp_path / "out" / "actual" / "REG.log"
    assert failed.status == "failed"
    assert f"{tmp_path / 'log.swf'}:{JOBS_OF_LOG + 1}" in failed.message
    assert failed.message.endswith(f"(see {log})")
    assert len(log.read_text().splitlines()) == 1


def test_a_process_that_is_killed(tmp_path, monkeypatch):
    """Nothing else ends with it."""
    program = tmp_path / "killed.py"
    program.write_text("import os\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setattr(execution, "PROGRAM", program)
    found = outcomes(cells(experiment_in(tmp_path), tmp_path / "out"))
    assert len(found) == 5
    for done in found.values():
        assert done.status == "failed"
        assert done.message.startswith("its process was ended by signal 9 (see ")


def test_a_folder_that_cannot_be_made(tmp_path):
    """A file in its place is a failure of the cell."""
    (tmp_path / "out").write_text("")
    cell = cell_named(experiment_in(tmp_path), tmp_path / "out", "actual/REG")
    (failed,) = outcomes([cell]).values()
    assert (failed.status, failed.message.split(": ")[0]) == (
        "failed",
        str(tmp_path / "out" / "actual" / "REG.log"),
    )


def test_stopping_stops_what_runs_and_begins_nothing(tmp_path, monkeypatch):
    """What leaves the loop over outcomes ends the processes, and cells that wait are not begun."""
    program = tmp_path / "waiting.py"
    # The first cell to start ends at once; the second waits until its standard input ends.
    program.write_text(
        "import os, pathlib, sys\n"
        "here = pathlib.Path(sys.argv[2])\n"
        "here.mkdir(parents=True)\n"
        "if here.name != 'REG':\n"
        "    os.read(0, 1)\n"
        "    (here / 'stopped').touch()\n"
    )
    monkeypatch.setattr(execution, "PROGRAM", program)
    out = tmp_path / "out"
    running = Execution().outcomes(cells(experiment_in(tmp_path), out), 2)
    assert next(running).cell.name == "actual/REG"
    deadline = time.monotonic() + PATIENCE
    while not (out / "actual" / "SJF+").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    running.close()
    assert (out / "actual" / "SJF+" / "stopped").exists()
    assert not (out / "requested-time" / "SJF+").exists()


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_cell_ends_with_what_started_it(tmp_path: Path, when: str) -> None:
    """A run whose starter is gone stops, and says that it was interrupted."""
    (tmp_path / "long.yaml").write_text(
        "name: long\n"
        "system: {groups: [{name: node, count: 128, resources: {core: 1}}]}\n"
        "trace: {source: lublin99, jobs: 1000000}\n"
        "dispatcher: easy\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-P", str(PROGRAM), str(tmp_path / "long.yaml"), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        if when == "later":
            deadline = time.monotonic() + PATIENCE
            while not (out / "jobs.parquet").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.3)
        process.stdin.close()
        assert process.wait(PATIENCE) in {130, -signal.SIGINT}
    if when == "later":
        assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
