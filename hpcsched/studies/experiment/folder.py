"""Folder of an experiment: its runs by address, its index, and a lock."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.folder_lock import locked_folder

if TYPE_CHECKING:
    from hpcsched.studies.experiment.cell import Cell

INDEX = "experiment.json"
_RUNS = "runs"
_LOGS = "logs"
_UNFINISHED = "unfinished"


class ExperimentFolder:
    """Folder with the runs of an experiment.

    A run gets its place, `runs/ADDRESS`, by a rename once it is complete; before that it is in a
    folder of its own under `unfinished`. So a run in its place is whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def index(self) -> Path:
        """The index file."""
        return self.path / INDEX

    @property
    def unfinished(self) -> Path:
        """Folder of attempts."""
        return self.path / _UNFINISHED

    def place(self, cell: "Cell") -> Path:
        """Return the run directory of a cell, which may not exist yet."""
        return self.path / _RUNS / cell.address

    def log(self, cell: "Cell") -> Path:
        """Return the file with the output of a cell that failed."""
        return self.path / _LOGS / f"{cell.address}.log"

    def run_of(self, cell: "Cell") -> RunDirectory | None:
        """Return the run of a cell if it is complete, else None."""
        return complete_run(self.place(cell), cell.text)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create and lock the folder, with no attempts in it before and after.

        Raises
        ------
        InputError
            If it cannot be written or is locked.
        """
        with locked_folder(self.path, _RUNS, _LOGS):
            self._clear()
            self.unfinished.mkdir()
            try:
                yield
            finally:
                self._clear()

    def take(self, attempt_run: Path, cell: "Cell") -> str:
        """Move a new run to its place; return the reason if that is refused, or nothing.

        It must be complete, of the cell's scenario, and of the data that the cell's address stands
        for.

        Raises
        ------
        OSError
            If it cannot be moved.
        """
        run = complete_run(attempt_run, cell.text)
        if run is None:
            return "it ended well, and left no complete run of its scenario"
        # Runs are found by an address made of these hashes: a run of other data there would be
        # taken for the planned one for ever.
        planned = {file.path: file.sha256 for file in cell.files}
        for file in run.manifest.trace_files:
            if file.changed or planned.get(file.path, file.sha256) != file.sha256:
                return (
                    f"{file.path} has changed since the experiment was started;"
                    " start it again to run all of its cells on the same data"
                )
        place = self.place(cell)
        # A folder cannot be renamed onto one that is not empty.
        if place.exists():
            place.replace(attempt_run.with_name("replaced"))
        attempt_run.replace(place)
        return ""

    def _clear(self) -> None:
        # A process that is just being stopped may still write there; what it leaves goes next time.
        shutil.rmtree(self.unfinished, ignore_errors=True)
        with suppress(OSError):
            if self.unfinished.exists():
                self.unfinished.rename(self.path / f"{_UNFINISHED}.{os.getpid()}")
        for left in self.path.glob(f"{_UNFINISHED}.*"):
            shutil.rmtree(left, ignore_errors=True)


def complete_run(path: Path, scenario: str) -> RunDirectory | None:
    """Return the run in a directory if it is complete and of this resolved scenario, else None."""
    try:
        run = RunDirectory.open(path)
        stored = run.scenario_path.read_text(encoding="utf-8")
    except (InputError, OSError, UnicodeDecodeError):
        return None
    return None if run.partial or stored != scenario else run
