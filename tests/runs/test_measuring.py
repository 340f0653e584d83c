"""The metrics of a finished run, computed again, also by `hpcsched verify --measure`."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import write_json
from hpcsched.runs.folder_lock import locked_folder
from hpcsched.runs.manifest import read_manifest, rehash
from hpcsched.runs.run_lifecycle import measure_again
from hpcsched.runs.runner import run
from tests.runs.small_scenario import write_scenario


@pytest.fixture(name="complete")
def _complete(tmp_path: Path) -> RunDirectory:
    return run(write_scenario(tmp_path), tmp_path / "run").directory


def without_waits(directory: RunDirectory) -> RunDirectory:
    """Return a run whose metric of wait times failed at the end."""
    summary = dict(directory.summary)
    summary["metrics"] = {**summary["metrics"], "mean_wait_time": None}
    summary["not_measured"] = {"metric mean_wait_time": "ValueError: it was broken"}
    write_json(directory.path / "summary.json", summary)
    rehash(directory.path, read_manifest(directory.path))
    return RunDirectory.open(directory.path)


def test_a_metric_that_failed_has_its_value(complete: RunDirectory) -> None:
    """The summary and the manifest are those of a run in which nothing had failed."""
    before = complete.summary
    measured = measure_again(without_waits(complete))
    assert measured.summary == before
    assert RunDirectory.open(complete.path).summary == before
    assert audit_directory(RunDirectory.open(complete.path)).ok


def test_tables_stay_as_they_are(complete: RunDirectory) -> None:
    """Nothing but the summary and its hash is written."""
    unlike = ("summary.json", "manifest.json")
    tables = {path.name: path.read_bytes() for path in complete.path.iterdir() if path.is_file()}
    measure_again(without_waits(complete))
    for name, content in tables.items():
        if name not in unlike:
            assert (complete.path / name).read_bytes() == content, name


def test_a_run_that_is_being_written(complete: RunDirectory) -> None:
    """Two processes do not write one summary."""
    with locked_folder(complete.path), pytest.raises(InputError, match="worked on by process"):
        measure_again(complete)


def test_the_account_has_the_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `run` printed is printed again, with the metric that had failed."""
    folder = tmp_path / "run"
    assert cli.main(["run", str(write_scenario(tmp_path)), "--out", str(folder)]) == 0
    printed = capsys.readouterr().out.splitlines()
    without_waits(RunDirectory.open(folder))
    assert cli.main(["verify", str(folder), "--measure"]) == 0
    assert capsys.readouterr().out.splitlines() == printed[:-1]


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no run is refused in one line."""
    assert cli.main(["verify", str(tmp_path), "--measure"]) == 1
    assert "not a run directory" in capsys.readouterr().err
