"""What a Dask worker does for a task: the program runs, with files that are there or were sent."""

import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from hpcsched.runs.manifest import file_hashes, read_manifest
from hpcsched.studies.executors.dask_cluster import pack, put_back_paths, unpack
from hpcsched.studies.executors.executor import Task, TaskFile
from tests.runs.hand_made import write_run
from tests.studies.executors.programs import COPIES, FAILS, program

dask_worker = pytest.importorskip("hpcsched.studies.executors.dask_cluster")

FILE = TaskFile("trace.path", "/elsewhere/log.swf", sha256(b"1 2 3\n").hexdigest())


class FakeWorker:
    """A worker with a task in some state."""

    def __init__(self, folder: Path, state: str = "executing") -> None:
        self.local_directory = str(folder)
        self.state = SimpleNamespace(tasks={"the-key": SimpleNamespace(state=state)})

    def get_current_task(self) -> str:
        """Return the key of the task of this thread."""
        return "the-key"


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """Make this thread that of a worker."""
    (tmp_path / "worker").mkdir()
    worker = FakeWorker(tmp_path / "worker")
    monkeypatch.setattr(dask_worker, "get_worker", lambda: worker)
    return worker


def task(folder: Path, name: str, *files: TaskFile) -> Task:
    """Return a task with attempts in a folder."""
    folder.mkdir(exist_ok=True)
    return Task("sjf_5", name, "name: sent\n", files, folder)


@pytest.mark.usefixtures("worker")
def test_shared_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt stays where the task wants it, and nothing is sent."""
    name = program(tmp_path, COPIES, monkeypatch)
    returned = dask_worker.run_here(task(tmp_path / "shared", name))
    assert (returned.message, returned.archive) == ("", None)
    attempt = Path(returned.attempt)
    assert attempt.parent == tmp_path / "shared"
    assert (attempt / "run" / "scenario.yaml").read_text() == "name: sent\n"
    assert returned.seconds > 0


def test_a_folder_that_the_worker_does_not_see(tmp_path: Path) -> None:
    """Files are not shared after all: the message says what to do."""
    returned = dask_worker.run_here(Task("a", "none", "", (), tmp_path / "none"))
    assert returned.attempt is None
    assert f"does not see the folder {tmp_path / 'none'}; 'ship: true'" in returned.message


def test_files_are_sent_there_and_back(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is told of the copies, the archive holds the run, and the attempt is removed."""
    name = program(tmp_path, COPIES, monkeypatch)
    returned = dask_worker.run_shipped(task(tmp_path / "far", name, FILE), b"1 2 3\n")
    assert (returned.message, returned.attempt) == ("", None)
    ((path, number),) = returned.paths.items()
    assert (number, Path(path).name, Path(path).read_bytes()) == (0, "log.swf", b"1 2 3\n")
    assert Path(path).is_relative_to(worker.local_directory)
    back = tmp_path / "back"
    back.mkdir()
    unpack(returned.archive, back)
    assert (back / "run" / "overrides").read_text() == f'trace.path="{path}"'
    assert (back / "log").read_text() == "copied\n"
    assert [one.name for one in Path(worker.local_directory).iterdir()] == ["hpcsched-files"]


@pytest.mark.usefixtures("worker")
def test_a_file_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks with the same file share the copy; another content is another file."""
    name = program(tmp_path, COPIES, monkeypatch)
    sent = task(tmp_path / "far", name, FILE)
    paths = [
        next(iter(dask_worker.run_shipped(sent, content).paths))
        for content in (b"1 2 3\n", b"1 2 3\n", b"4\n")
    ]
    assert paths[0] == paths[1] != paths[2]
    assert [Path(path).read_bytes() for path in paths[1:]] == [b"1 2 3\n", b"4\n"]


@pytest.mark.usefixtures("worker")
def test_a_program_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log alone is sent back."""
    name = program(tmp_path, FAILS, monkeypatch)
    returned = dask_worker.run_shipped(task(tmp_path / "far", name))
    assert returned.message == "no licence"
    (tmp_path / "back").mkdir()
    unpack(returned.archive, tmp_path / "back")
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["log"]


@pytest.mark.parametrize("state", ["cancelled", None])
def test_a_task_that_nobody_waits_for(
    state: str | None, worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is stopped when Dask has cancelled it, or knows it no more."""
    tasks = worker.state.tasks
    tasks.clear() if state is None else setattr(tasks["the-key"], "state", state)
    name = program(tmp_path, "import sys; sys.stdin.read()", monkeypatch)
    assert dask_worker.run_here(task(tmp_path / "shared", name)).message == "it was stopped"


def test_packing(tmp_path: Path) -> None:
    """What was packed comes out the same; without a run the log alone does."""
    (tmp_path / "a" / "run").mkdir(parents=True)
    (tmp_path / "a" / "run" / "file").write_bytes(b"\0\1")
    (tmp_path / "a" / "log").write_text("said\n")
    for run in (True, False):
        target = tmp_path / f"b-{run}"
        target.mkdir()
        unpack(pack(tmp_path / "a", run=run), target)
        assert (target / "log").read_text() == "said\n"
        assert (target / "run").exists() is run
    assert (tmp_path / "b-True" / "run" / "file").read_bytes() == b"\0\1"


def test_a_run_with_paths_put_back_holds_its_hashes(tmp_path: Path) -> None:
    """The scenario with the paths of this machine is the one that the manifest has the hash of."""
    made = write_run(tmp_path / "run").path
    there = json.loads((made / "manifest.json").read_text())["trace_files"][0]["path"]
    put_back_paths(made, "name: back\n", {there: "/here/trace.txt"})
    manifest = read_manifest(made)
    assert manifest.files == file_hashes(made)
    assert manifest.trace_files[0].path == "/here/trace.txt"
