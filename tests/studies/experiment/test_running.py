"""Runs of an experiment in its folder."""

from pathlib import Path

import pytest

from hpcsched.errors import HpcschedError
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.execution import Outcome
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.reading import read_experiment
from hpcsched.studies.experiment.running import run_experiment, run_in_folder
from tests.studies.experiment.samples import run_cells_here, write_sample


class Heard:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __enter__(self) -> "Heard":
        self.told.append("begin")
        return self

    def __exit__(self, *_: object) -> None:
        self.told.append("end")

    def started(self, cell: Cell) -> None:
        """Note that a cell begins."""
        self.told.append(f"started {cell.name}")

    def ended(self, outcome: Outcome) -> None:
        """Note how a cell ended."""
        self.told.append(f"{outcome.status} {outcome.cell.name}")


def test_listener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hears of each cell, one after the other; complete ones are kept."""
    run_cells_here(monkeypatch)
    read = read_experiment(write_sample(tmp_path))
    folder = ExperimentFolder(tmp_path / "out")
    heard = Heard()
    assert run_in_folder(read, read.cells[:1], folder, 1, listener=heard) == 0
    name = read.cells[0].name
    assert heard.told == ["begin", f"started {name}", f"done {name}", "end"]
    heard = Heard()
    assert run_in_folder(read, read.cells[:1], folder, 1, listener=heard) == 0
    assert heard.told == ["begin", f"kept {name}", "end"]


def test_a_folder_that_is_in_use(tmp_path: Path) -> None:
    """One process at a time works on an experiment."""
    file = write_sample(tmp_path)
    folder = ExperimentFolder(tmp_path / "out")
    with folder.locked(), pytest.raises(HpcschedError):
        run_experiment(file, folder.path)
