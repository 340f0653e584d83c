"""A trace that changes while a run reads it, or between two cells of an experiment."""

import json
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import sha256
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.execution import run_cells
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.reading import read_experiment
from hpcsched.workload.readers.swf_lines import SwfLines
from tests.studies.experiment.samples import HereAndNow, read_sample, write_sample

MORE = "13 900 -1 30 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.mark.parametrize("gone", [False, True])
def test_during_a_run(
    gone: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The run is complete; manifest and terminal say that its trace is another by now."""
    write_sample(tmp_path)
    log, read = tmp_path / "log.swf", SwfLines.blocks
    before = log.read_text()

    def changing(self: SwfLines) -> object:
        yield from read(self)  # a header is not read to the end
        log.unlink() if gone else log.write_text(before + MORE)

    monkeypatch.setattr(SwfLines, "blocks", changing)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "base.yaml"), "--out", str(out)]) == 0
    said = capsys.readouterr().err
    place = f"{tmp_path / 'base.yaml'}:4:8: warning: trace: "
    assert f"{place}{log} changed while the run went on" in said
    manifest = RunDirectory.open(out).manifest
    assert manifest.status == "complete"
    assert [file.changed for file in manifest.trace_files] == [True]
    assert not manifest.reproducible
    assert manifest.not_reproducible_because == [f"{log} changed while the run went on"]


def test_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace that is written again with what it held has not changed."""
    write_sample(tmp_path)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "base.yaml"), "--out", str(out)]) == 0
    assert "changed" not in capsys.readouterr().err
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["trace_files"][0]["changed"] is False
    assert manifest["reproducible"] is True


def test_between_cells(tmp_path: Path) -> None:
    """Cells that would read other data fail and say so; started again, all read the new data."""
    experiment, out = read_sample(tmp_path), tmp_path / "out"
    log, folder = tmp_path / "log.swf", ExperimentFolder(out)
    begun: list[str] = []

    def started(cell: Cell) -> None:
        begun.append(cell.name)
        if len(begun) == 3:
            log.write_text(log.read_text() + MORE)

    with folder.locked():
        found = list(run_cells(experiment.cells, folder, HereAndNow(), started=started))
    assert [outcome.status for outcome in found] == ["done", "done", "failed", "failed"]
    assert f"{log} has changed since the experiment was started" in found[2].message
    there = [folder.run_of(cell) is not None for cell in experiment.cells]
    assert there == [True, True, False, False]
    again = read_experiment(tmp_path / "tiny.yaml")
    assert {cell.files[0].sha256 for cell in again.cells} == {sha256(log)}
    with folder.locked():
        found = list(run_cells(again.cells, folder, HereAndNow()))
    assert [outcome.status for outcome in found] == ["done"] * 4
