"""What a Dask worker does for a task: the program runs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from hpcsched.studies.executors.executor import Task
from tests.studies.executors.programs import COPIES, program

dask_worker = pytest.importorskip("hpcsched.studies.executors.dask_cluster")


class FakeWorker:
    """A worker with a task in some state."""

    def __init__(self, folder: Path, state: str = "executing") -> None:
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


def task(folder: Path, name: str) -> Task:
    """Return a task with attempts in a folder."""
    folder.mkdir(exist_ok=True)
    return Task("sjf_5", name, "name: sent\n", (), folder)


@pytest.mark.usefixtures("worker")
def test_shared_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt stays where the task wants it."""
    name = program(tmp_path, COPIES, monkeypatch)
    returned = dask_worker.run_here(task(tmp_path / "shared", name))
    assert returned.message == ""
    attempt = Path(returned.attempt)
    assert attempt.parent == tmp_path / "shared"
    assert (attempt / "run" / "scenario.yaml").read_text() == "name: sent\n"
    assert returned.seconds > 0


def test_a_folder_that_the_worker_does_not_see(tmp_path: Path) -> None:
    """Files are not shared after all: the message says what to do."""
    returned = dask_worker.run_here(Task("a", "none", "", (), tmp_path / "none"))
    assert returned.attempt is None
    assert f"does not see the folder {tmp_path / 'none'}" in returned.message


@pytest.mark.parametrize("state", ["cancelled", None])
def test_a_task_that_nobody_waits_for(
    state: str | None, worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is stopped when Dask has cancelled it, or knows it no more."""
    tasks = worker.state.tasks
    tasks.clear() if state is None else setattr(tasks["the-key"], "state", state)
    name = program(tmp_path, "import sys; sys.stdin.read()", monkeypatch)
    assert dask_worker.run_here(task(tmp_path / "shared", name)).message == "it was stopped"
