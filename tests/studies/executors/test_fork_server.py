"""Tasks that one server forks, one after another."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched.studies.execution import run_cells
from hpcsched.studies.executors.executor import ForkServer, LocalExecutor, LocalParams, Task
from hpcsched.studies.experiment_folder import ExperimentFolder
from tests.runs.both_loops import check_equal
from tests.studies.executors.programs import COPIES, FAILS, program
from tests.studies.experiment_samples import read_sample

MATRIX = """\
name: tiny
scenario: base.yaml
matrix:
  - names: [easy, sjf, recorded, reasons, planned]
    dispatcher:
      - easy
      - {name: list, order: sjf}
      - {name: recorded, missing_start: submission}
      - easy
      - order-search
    observers: [[], [], [], [reasons, event-log], []]
  - trace.transforms: [[{name: first, jobs: 11}], [{name: first, jobs: 7}]]
"""

KILLS_SERVER = """
import os, pathlib, signal, sys, time
if b".fork_server" in pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_bytes():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
pathlib.Path(sys.argv[2]).mkdir()
"""
"""A program that ends well only in a process that was started for it alone."""


def never() -> bool:
    """Return False: nothing stops a task."""
    return False


def test_cells_after_others_are_as_alone(tmp_path: Path) -> None:
    """All files are equal, but for what a clock measured."""
    sample, folder = read_sample(tmp_path, MATRIX), ExperimentFolder(tmp_path / "out")
    with folder.locked():
        found = list(run_cells(sample.cells, folder, LocalExecutor(LocalParams(jobs=1))))
    assert [(outcome.status, outcome.message) for outcome in found] == [("done", "")] * 10
    # Cells of one trace come one after another.
    ran = [outcome.cell.labels["trace.transforms"] for outcome in found]
    assert ran == sorted(ran, reverse=ran[0] > ran[-1])
    for cell in sample.cells:
        alone = hpcsched.run(cell.scenario, tmp_path / cell.name).directory.path
        check_equal(folder.place(cell), alone)


def test_a_server_that_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its task runs again in a process of its own, and others go on."""
    name = program(tmp_path, KILLS_SERVER, monkeypatch)
    (tmp_path / "work").mkdir()
    task = Task("one", name, "", (), tmp_path / "work")
    tasks = [task, task._replace(name="two")]
    begun: list[Task] = []
    found = list(LocalExecutor(LocalParams()).run(tasks, 1, begun.append))
    assert [ended.message for ended in found] == ["", ""]
    assert begun == tasks


@pytest.mark.parametrize(
    ("text", "why", "log"),
    [
        (COPIES, "", "copied\n"),
        (FAILS, "no licence", "a first line\n  no licence  \n\n"),
        ("raise SystemExit(4)", "its process ended with exit code 4", ""),
        ("raise SystemExit('no licence')", "no licence", "no licence\n"),
        ("raise KeyError('x')", "KeyError: 'x'", None),
        ("import os; os.abort()", "its process was ended by signal 6", None),
    ],
    ids=["well", "last line", "silent", "text", "exception", "crash"],
)
def test_a_program_ends_as_one_of_its_own(
    text: str, why: str, log: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words are in its log; the next one runs as well."""
    name, server = program(tmp_path, text, monkeypatch), ForkServer()
    for number in ("1", "2"):
        attempt = tmp_path / number
        attempt.mkdir()
        assert server.carry_out(name, "", attempt, never) == why
        assert log is None or (attempt / "log").read_text() == log
    server.close()


TELLS_PROCESS = """
import os, pathlib, sys
from hpcsched.runs.manifest import start_manifest
out = pathlib.Path(sys.argv[2])
out.mkdir()
if "{left}" in os.environ:
    os.abort()
os.environ["LEFT"] = "by a task"
start_manifest(out, scenario="x", seed=0, trace_files=(), plugins={{"{plugin}": "1"}})
print(os.getpid())
"""
"""A program that tells its process, and ends badly where an earlier task has left something."""


@pytest.mark.parametrize(
    ("left", "plugin", "processes"),
    [("NOTHING", "hpcsched", 1), ("LEFT", "hpcsched", 3), ("NOTHING", "mine", 3)],
    ids=["one for all", "a new one after a crash", "one each beside plugins of others"],
)
def test_processes(
    left: str, plugin: str, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks share one, unless they could disturb each other."""
    text = TELLS_PROCESS.format(left=left, plugin=plugin)
    name, server = program(tmp_path, text, monkeypatch), ForkServer()
    logs = []
    for number in ("1", "2", "3"):
        attempt = tmp_path / number
        attempt.mkdir()
        assert server.carry_out(name, "", attempt, never) == ""
        logs.append((attempt / "log").read_text())
    server.close()
    assert len(set(logs)) == processes
