"""Attempts at tasks, and the executor `local`."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hpcsched.studies.executors.executor as attempts
from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.studies.execution import PROGRAM
from hpcsched.studies.executors import sample_program
from hpcsched.studies.executors.executor import (
    STOPPED,
    LocalExecutor,
    LocalParams,
    Task,
    carry_out,
    new_attempt,
)
from hpcsched.studies.experiment_folder import ExperimentFolder, read_index
from hpcsched.studies.study_files import choose_cells, read_experiment
from tests.studies.executors.programs import COPIES, FAILS, program
from tests.studies.experiment_samples import (
    EXPERIMENT,
    SCENARIO,
    expected_summaries,
    summaries,
    write_sample,
)

UNTIL_INPUT_ENDS = """
import pathlib, sys
here = pathlib.Path(sys.argv[1]).parent
(here / "begun").touch()
sys.stdin.read()
(here / "ended").touch()
"""
FOR_EVER = """
import pathlib, sys, time
(pathlib.Path(sys.argv[1]).parent / "begun").touch()
time.sleep(600)
"""


def test_two_attempts_at_a_task(tmp_path: Path) -> None:
    """Each has an empty folder of its own, with the task's name."""
    one, other = (new_attempt(tmp_path, "sjf_5") for _ in range(2))
    assert one != other
    assert {path.parent for path in (one, other)} == {tmp_path}
    assert all(path.name.startswith("sjf_5-") for path in (one, other))
    assert list(one.iterdir()) == []


def test_no_place_for_an_attempt(tmp_path: Path) -> None:
    """That is the operating system's error."""
    with pytest.raises(FileNotFoundError):
        new_attempt(tmp_path / "none", "sjf_5")


def test_a_program_that_does_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given the scenario, the run directory and the overrides; its words are in the log."""
    name = program(tmp_path, COPIES, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    assert carry_out(name, "name: é\n", attempt, ["trace.path=x", "seed=3"]) == ""
    assert (attempt / "scenario.yaml").read_text(encoding="utf-8") == "name: é\n"
    assert (attempt / "run" / "scenario.yaml").read_text(encoding="utf-8") == "name: é\n"
    assert (attempt / "run" / "overrides").read_text() == "trace.path=x\nseed=3"
    assert (attempt / "log").read_text() == "copied\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FAILS, "no licence"),
        ("raise SystemExit(4)", "its process ended with exit code 4"),
        (
            "import os; print('half a li', flush=True); os.kill(os.getpid(), 9)",
            "its process was ended by signal 9",
        ),
        ("raise KeyError('x')", "KeyError: 'x'"),
    ],
    ids=["last line", "silent", "killed", "exception"],
)
def test_why_it_failed(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line that it wrote, unless it was killed in the middle of one."""
    name = program(tmp_path, text, monkeypatch)
    assert carry_out(name, "", new_attempt(tmp_path, "a")) == why


def test_it_is_told_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its standard input ends, on which it may do what is left to do."""
    name = program(tmp_path, UNTIL_INPUT_ENDS, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    said = carry_out(name, "", attempt, stopped=(attempt / "begun").exists)
    assert said == STOPPED
    assert (attempt / "ended").exists()


def test_one_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time for stopping is limited."""
    monkeypatch.setattr(attempts, "GRACE", 0.05)
    name = program(tmp_path, FOR_EVER, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    began = time.monotonic()
    assert carry_out(name, "", attempt, stopped=(attempt / "begun").exists) == STOPPED
    assert time.monotonic() - began < 300


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
    assert failed.startswith("failed    ")
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


def run(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the program with a scenario."""
    (folder / "scenario.yaml").write_text(text)
    arguments = ["", str(folder / "scenario.yaml"), str(folder / "run")]
    monkeypatch.setattr(sample_program.sys, "argv", arguments)
    return sample_program.main()


def test_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends after the given time."""
    assert run("0.02", tmp_path, monkeypatch) == 0
    began, end = map(float, (tmp_path / "run" / "times").read_text().split())
    assert end - began >= 0.01


def test_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says the text, and leaves no run."""
    assert run("no luck", tmp_path, monkeypatch) == 1
    assert capsys.readouterr().err == "no luck\n"
    assert not (tmp_path / "run").exists()
