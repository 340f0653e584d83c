"""The executor `local`, the command, and what is left when either is killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.studies.experiment.cell_selection import choose_cells
from hpcsched.studies.experiment.execution import PROGRAM
from hpcsched.studies.experiment.executors.executor import Task
from hpcsched.studies.experiment.executors.local import LocalExecutor, LocalParams
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.index import read_index
from hpcsched.studies.experiment.reading import read_experiment
from tests.studies.experiment.samples import (
    EXPERIMENT,
    SCENARIO,
    expected_summaries,
    summaries,
    write_sample,
)

PATIENCE = 120.0
COMMAND = [sys.executable, "-c", "from hpcsched.cli import main; raise SystemExit(main())"]


def wait_for(what: str, condition: object) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def start(path: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    command = [*COMMAND, "experiment", str(path), "--out", str(out), *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def done(out: Path) -> int:
    """Return how many runs are in their place."""
    return len(list((out / "runs").glob("*"))) if (out / "runs").is_dir() else 0


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs cells as processes; one of them fails, which the exit code says."""
    monkeypatch.chdir(tmp_path)
    text = "name: tiny\nscenario: base.yaml\nmatrix:\n  - trace.path: [log.swf, bad.swf]\n"
    path = write_sample(tmp_path, text)
    (tmp_path / "bad.swf").write_text("1 2 3\n")
    assert cli.main(["experiment", str(path), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["waiting", "waiting", "2"]
    assert not (tmp_path / "runs").exists()
    assert cli.main(["experiment", str(path), "--jobs", "2"]) == 1
    said = capsys.readouterr()
    assert said.out == "results in runs/tiny; compare them: hpcsched compare runs/tiny\n"
    assert "log: done in" in said.err
    assert "bad.swf:1" in said.err
    assert said.err.endswith("1 of 2 cells failed\n")
    assert cli.main(["experiment", str(path), "--list"]) == 0
    complete, failed, count = capsys.readouterr().out.splitlines()
    assert complete.startswith("complete  ")
    assert failed.startswith("failed    ") and "bad.swf:1" in failed
    assert count == "2 cells, 1 complete"
    assert cli.main(["compare", "runs/tiny"]) == 0
    assert "mean_wait_time" in capsys.readouterr().out


@pytest.mark.slow
def test_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels choose cells; the index keeps what is known of the others, and bad labels are told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.swf").write_text("1 2 3\n")
    text = EXPERIMENT.replace("trace.jobs: [5, 9]", "trace.path: [log.swf, bad.swf]")
    path = write_sample(tmp_path, text)
    command = ["experiment", str(path), "--jobs", "1"]
    assert cli.main([*command, "--only", "none"]) == 1
    assert capsys.readouterr().err.endswith("1 of 2 cells failed\n")
    assert cli.main([*command, "--only", "log", "--only", "sjf"]) == 0
    assert "[1/1] sjf_log: done in" in capsys.readouterr().err
    index = read_index(Path("runs/tiny"))
    assert [cell.status for cell in index.cells] == ["complete", "failed", "complete", "waiting"]
    assert "bad.swf:1" in index.cells[1].message
    assert cli.main([*command, "--only", "log", "--list"]) == 0
    assert capsys.readouterr().out.endswith("_log (seed 7)\n2 cells, 2 complete\n")
    assert cli.main([*command, "--only", "eazy"]) == 1
    said = capsys.readouterr().err
    assert "no axis has a label 'eazy'; there are: none, sjf, log, bad [unknown-label]" in said


def test_labels_that_no_cell_has_together(tmp_path: Path) -> None:
    """That is an error, as nothing would be run."""
    experiment = read_experiment(
        write_sample(tmp_path, f"{EXPERIMENT}exclude: [{{dispatcher: sjf, trace.jobs: 9}}]\n")
    )
    assert [cell.name for cell in choose_cells(experiment, ["sjf"])] == ["sjf_5"]
    assert choose_cells(experiment, []) == list(experiment.cells)
    with pytest.raises(InputError, match="no cell has the labels sjf, 9 together"):
        choose_cells(experiment, ["sjf", "9"])


def test_a_program_that_is_killed_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says by which signal, and other tasks go on."""
    cell = read_experiment(write_sample(tmp_path)).cells[0]
    (tmp_path / "work").mkdir()
    task = Task("first", PROGRAM, cell.text, cell.files, tmp_path / "work")
    lines = ["import os, sys", "if 'first' in sys.argv[1]: os.kill(os.getpid(), 9)"]
    (tmp_path / "deadly.py").write_text("\n".join(lines))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tasks = [task._replace(program="deadly"), task._replace(name="second", program="deadly")]
    begun: list[Task] = []
    running = LocalExecutor(LocalParams(jobs=2)).run(tasks, 1, begun.append)
    found = {ended.task.name: ended.message for ended in running}
    assert found == {"first": "its process was ended by signal 9", "second": ""}
    assert begun == tasks


@pytest.mark.slow
def test_it_goes_on_after_it_was_killed(tmp_path: Path) -> None:
    """Killed half-way, started again: the same bytes as cells run one by one, and none twice."""
    path, out = write_sample(tmp_path), tmp_path / "out"
    with start(path, out, "--jobs", "1") as process:
        wait_for("a first run", lambda: done(out))
        process.kill()
        process.communicate()
    before = done(out)
    assert 0 < before < 4
    first = {run.name: run.stat().st_ino for run in (out / "runs").iterdir()}
    with start(path, out, "--jobs", "2") as process:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert said.count(": kept") == before
    experiment = read_experiment(path)
    assert summaries(experiment, out) == expected_summaries(experiment, tmp_path)
    assert all((out / "runs" / name).stat().st_ino == inode for name, inode in first.items())
    statuses = [
        cell["status"] for cell in json.loads((out / "experiment.json").read_text())["cells"]
    ]
    assert statuses == ["complete"] * 4


@pytest.mark.slow
def test_ctrl_c_and_two_at_once(tmp_path: Path) -> None:
    """A second process is refused; an interrupt ends the first with 130, and its cells with it."""
    long = SCENARIO.replace("log.swf", "long.swf").replace("reject", "{name: list, order: sjf}")
    text = EXPERIMENT.replace("[5, 9]", "[99999, 99998]")
    path, out = write_sample(tmp_path, text, long), tmp_path / "out"
    lines = (
        f"{n} {n} -1 {60 + n * 37 % 900} {1 + n % 4} -1 -1 {1 + n % 4} 2000 -1 1 1 1 1 1 1 -1 -1\n"
        for n in range(1, 100_000)
    )
    (tmp_path / "long.swf").write_text("".join(lines))
    with start(path, out, "--jobs", "1") as process:
        wait_for("a run", lambda: list((out / "unfinished").glob("*/run/jobs.parquet")))
        with start(path, out) as second:
            _, said = second.communicate(timeout=PATIENCE)
        assert second.returncode == 1
        assert f"it is being worked on by process {process.pid} on" in said
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted; started again, it goes on from here"
    cells = json.loads((out / "experiment.json").read_text())["cells"]
    assert {cell["status"] for cell in cells} <= {"waiting", "complete"}
    assert "waiting" in {cell["status"] for cell in cells}
    assert not (out / "unfinished").exists()
    with ExperimentFolder(out).locked():
        pass
