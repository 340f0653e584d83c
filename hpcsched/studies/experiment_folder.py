"""Folder of an experiment: runs by address, a lock, the index of the cells, and their status."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import read_model
from hpcsched.runs.folder_lock import holder_of, locked_folder
from hpcsched.runs.run_status import RunStatus, status_content, status_of
from hpcsched.studies.executors.executor import RUN
from hpcsched.whole_files import file_error

if TYPE_CHECKING:
    from hpcsched.studies.cell import Cell

INDEX = "experiment.json"
OUTCOMES = "outcomes.jsonl"
_RUNS = "runs"
_LOGS = "logs"
_UNFINISHED = "unfinished"
_SHARDS = "shards"


class ExperimentFolder:
    """Folder with the runs of an experiment.

    A run gets its place, `runs/ADDRESS`, by a rename once it is complete; before that it is in a
    folder of its own under `unfinished`. So a run in its place is whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = path / INDEX
        self.outcomes = path / OUTCOMES
        self.unfinished = path / _UNFINISHED

    def place(self, cell: "Cell") -> Path:
        """Return the run directory of a cell, which may not exist yet."""
        return self.path / _RUNS / cell.address

    def log(self, cell: "Cell") -> Path:
        """Return the file with the output of a cell that failed."""
        return self.path / _LOGS / f"{cell.address}.log"

    def run_of(self, cell: "Cell") -> RunDirectory | None:
        """Return the run of a cell if it is complete, else None."""
        return complete_run(self.place(cell), cell.text)

    def append_outcome(self, outcome: "CellOutcome") -> None:
        """Add a line to the outcomes since the index was written."""
        with self.outcomes.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(outcome)}\n")

    def shard(self, number: int, of: int) -> "ExperimentFolder":
        """Return the folder of a part of the cells, for a process of its own."""
        return ExperimentFolder(self.path / _SHARDS / f"{number}-of-{of}")

    def take_shards(self, cells: Sequence["Cell"]) -> None:
        """Move the complete runs of cells from the folders of shards to their places here.

        Raises InputError if another process works on a shard.
        """
        by_address = {cell.address: cell for cell in cells}
        for path in sorted(self.path.glob(f"{_SHARDS}/*/")):
            shard = ExperimentFolder(path)
            with shard.locked():
                for place in sorted((path / _RUNS).iterdir()):
                    cell = by_address.get(place.name)
                    if cell and self.run_of(cell) is None and shard.run_of(cell) is not None:
                        shutil.rmtree(self.place(cell), ignore_errors=True)
                        place.replace(self.place(cell))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create and lock the folder, with no attempts in it before and after."""
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


FORMAT = 1
"""Version of the index; readers refuse any other."""

CellStatus = Literal["waiting", "complete", "failed"]


class IndexedCell(BaseModel):
    """A cell in the index.

    Attributes
    ----------
    run
        Run directory, relative to the experiment's folder.
    status
        No status for running cells: a killed experiment could not change it.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    labels: dict[str, str]
    replica: int
    seed: int
    address: str
    run: str
    status: CellStatus = "waiting"
    message: str = ""
    log: str | None = None

    def after(self, outcome: "CellOutcome | None") -> "IndexedCell":
        """Return the cell after an outcome, if there is one."""
        if outcome is None:
            return self
        log = f"{_LOGS}/{self.address}.log" if outcome.status == "failed" else None
        return self.model_copy(update={**outcome._asdict(), "log": log})


class CellOutcome(NamedTuple):
    """How a cell has ended: a line of `outcomes.jsonl` until the index is written again."""

    address: str
    status: CellStatus
    message: str


class Index(BaseModel):
    """Content of `experiment.json`: labels by axis, and the cells in order."""

    model_config = ConfigDict(frozen=True)

    format: int
    experiment: str
    axes: dict[str, list[str]]
    cells: list[IndexedCell]


def read_index(folder: Path) -> Index:
    """Return the index of an experiment's folder."""
    path = folder / INDEX
    if not path.is_file():
        raise file_error("not-an-experiment", folder, f"it has no {INDEX}")
    index = read_model(path, Index, FORMAT)
    later = {one.address: one for one in _outcomes(folder / OUTCOMES)}
    cells = [cell.after(later.get(cell.address)) for cell in index.cells]
    return index.model_copy(update={"cells": cells})


def _outcomes(path: Path) -> Iterator[CellOutcome]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return
    try:
        for line in lines:
            if line.endswith("\n"):  # a process that was killed may leave half a line
                yield CellOutcome(*json.loads(line))
    except (TypeError, ValueError) as error:
        raise file_error("damaged-file", path, f"it is damaged: {error}") from error


@dataclass(frozen=True)
class ExperimentStatus:
    """The status of an experiment.

    Attributes
    ----------
    index
        Its cells, by the index.
    running
        Status of each cell's run that has begun and not ended.
    holder
        The process that works on the experiment; None if none does.
    """

    folder: Path
    index: Index
    running: tuple[RunStatus, ...]
    holder: str | None

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by status; those that run are not counted as waiting."""
        counted = Counter(cell.status for cell in self.index.cells)
        waiting = max(counted["waiting"] - len(self.running), 0)
        return {
            "complete": counted["complete"],
            "failed": counted["failed"],
            "running": len(self.running),
            "waiting": waiting,
        }

    @property
    def failed(self) -> list[IndexedCell]:
        """Cells that failed."""
        return [cell for cell in self.index.cells if cell.status == "failed"]


def experiment_status(path: Path) -> ExperimentStatus:
    """Return the status of the experiment in a folder."""
    folder = ExperimentFolder(path)
    index = read_index(path)
    holder = holder_of(path)
    # What a killed experiment left behind is not running.
    begun = sorted(folder.unfinished.glob(f"*/{RUN}")) if holder else []
    running = []
    for run in begun:
        # A run may end, and be moved to its place, while this is looked at.
        try:
            status = status_of(run)
        except InputError:
            continue
        if status.verdict == "running":
            running.append(status)
    return ExperimentStatus(path, index, tuple(running), holder)


def experiment_status_text(status: ExperimentStatus) -> str:
    """Return the status as lines: the counts, cells that run, and why others failed."""
    cells = len(status.index.cells)
    counts = ", ".join(f"{count} {what}" for what, count in status.counts.items() if count)
    lines = [f"{status.index.experiment}: {cells} cells: {counts}"]
    if status.holder is not None:
        lines.append(f"  worked on by {status.holder}")
    elif status.counts["waiting"]:
        lines.append("  nothing works on it; started again, it goes on from here")
    for run in status.running:
        state = run.state
        known = state is not None and state.progress is not None
        how_far = f" {state.progress:.0%}" if state is not None and known else ""
        lines.append(f"  running{how_far}: {run.manifest.scenario}")
    lines += [f"  failed: {cell.name}: {cell.message}" for cell in status.failed]
    return "\n".join(lines)


def experiment_status_content(status: ExperimentStatus) -> dict[str, Any]:
    """Return the status for JSON."""
    return {
        "experiment": status.index.experiment,
        "folder": str(status.folder),
        "cells": len(status.index.cells),
        "counts": status.counts,
        "holder": status.holder,
        "running": [status_content(run) for run in status.running],
        "failed": [
            {"name": cell.name, "message": cell.message, "log": cell.log} for cell in status.failed
        ],
    }
