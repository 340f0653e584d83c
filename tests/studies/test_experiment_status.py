"""The status of an experiment: counts, cells that run, failures, and who works on it."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.runs.folder_lock import FolderLock, holder_of
from hpcsched.runs.manifest import start_manifest
from hpcsched.studies.executors.executor import RUN
from hpcsched.studies.experiment_folder import (
    ExperimentFolder,
    experiment_status,
    experiment_status_content,
    experiment_status_text,
)
from tests.studies.experiment_samples import run_cells_here, write_sample


@pytest.fixture(name="half_done")
def _half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment of four cells, of which two are complete."""
    run_cells_here(monkeypatch)
    file, out = write_sample(tmp_path), tmp_path / "out"
    given = ["experiment", str(file), "--out", str(out), "--quiet", "--only", "sjf"]
    assert cli.main(given) == 0
    return out


def begin_run(out: Path) -> Path:
    """Leave what a running cell has written at its begin; return its run directory."""
    run = out / "unfinished" / "address-1" / RUN
    run.mkdir(parents=True)
    start_manifest(run, scenario="base", seed=7, trace_files=(), plugins={})
    return run


def test_between_two_calls(half_done: Path) -> None:
    """Two cells wait for a process; what an earlier one left behind does not run."""
    begin_run(half_done)
    status = experiment_status(half_done)
    assert status.counts == {"complete": 2, "failed": 0, "running": 0, "waiting": 2}
    assert experiment_status_text(status).splitlines() == [
        "tiny: 4 cells: 2 complete, 2 waiting",
        "  nothing works on it; started again, it goes on from here",
    ]


def test_in_progress(half_done: Path) -> None:
    """While a process works on it, runs that have begun are counted, and the process is named."""
    with ExperimentFolder(half_done).locked():
        with FolderLock(begin_run(half_done)).acquire():
            status = experiment_status(half_done)
        assert holder_of(half_done) == status.holder
        assert status.counts == {"complete": 2, "failed": 0, "running": 1, "waiting": 1}
        text = experiment_status_text(status)
        content = experiment_status_content(status)
    assert "worked on by process" in text
    assert "  running: base" in text
    assert [run["scenario"] for run in content["running"]] == ["base"]
    assert holder_of(half_done) is None


def test_the_command(half_done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON; a cell that failed is named with its reason."""
    index = half_done / "experiment.json"
    content = json.loads(index.read_text())
    content["cells"][0].update(status="failed", message="no room", log="logs/a.log")
    index.write_text(json.dumps(content))
    capsys.readouterr()
    assert cli.main(["status", str(half_done)]) == 0
    name = content["cells"][0]["name"]
    assert f"  failed: {name}: no room" in capsys.readouterr().out
    assert cli.main(["status", str(half_done), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["failed"] == [{"name": name, "message": "no room", "log": "logs/a.log"}]


def test_no_experiment(tmp_path: Path) -> None:
    """A folder without an index is refused."""
    with pytest.raises(InputError, match=r"it has no experiment\.json"):
        experiment_status(tmp_path)
