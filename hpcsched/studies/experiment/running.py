"""A run of an experiment in its folder, for the command and for Python."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hpcsched.plugins import manager
from hpcsched.report.job_classes import ClassName
from hpcsched.report.studying import StudyComparison, compare
from hpcsched.runs.runner import RunResult, open_run
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.cell_selection import choose_cells
from hpcsched.studies.experiment.execution import IndexWriter, Outcome, build_executor, run_cells
from hpcsched.studies.experiment.experiment_status import (
    ExperimentStatus,
    experiment_status,
    experiment_status_text,
)
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.reading import Experiment, read_experiment


class Listener(AbstractContextManager[Any], Protocol):
    """Hears of the cells that begin and end; it is entered before the first."""

    def started(self, cell: Cell) -> None:
        """Hear that a cell begins, maybe in another thread."""

    def ended(self, outcome: Outcome) -> None:
        """Hear how a cell ended."""


class _Silent(nullcontext[None]):
    """A listener that does nothing."""

    def started(self, cell: Cell) -> None:
        """Do nothing."""

    def ended(self, outcome: Outcome) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment that has been run.

    Attributes
    ----------
    folder
        Its folder.
    cells
        The cells that were to be run.
    """

    folder: Path
    cells: tuple[Cell, ...]

    @property
    def status(self) -> ExperimentStatus:
        """Its cells by outcome; `status.failed` has the messages of those that failed."""
        return experiment_status(self.folder)

    @property
    def runs(self) -> dict[str, RunResult]:
        """The complete runs, by the names of their cells."""
        folder = ExperimentFolder(self.folder)
        found = {cell.name: folder.run_of(cell) for cell in self.cells}
        return {name: open_run(run.path) for name, run in found.items() if run is not None}

    def compare(
        self,
        *,
        baseline: str | None = None,
        by: ClassName | Sequence[ClassName] = (),
        recorded: bool = False,
    ) -> StudyComparison:
        """Compare the complete runs.

        Parameters
        ----------
        baseline, by, recorded
            As in `hpcsched.compare`.

        Raises
        ------
        InputError
            If no run is complete, or as in `hpcsched.compare`.
        """
        return compare(self.folder, baseline=baseline, by=by, recorded=recorded)

    def _repr_html_(self) -> str:
        """Return the comparison for notebooks; the status where nothing can be compared yet."""
        if not self.runs:
            return f"<pre>{experiment_status_text(self.status)}</pre>"
        return self.compare()._repr_html_()


def run_experiment(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    overrides: Sequence[str] = (),
    only: Sequence[str] = (),
    executor: str | None = None,
    jobs: int | None = None,
    again: bool = False,
) -> ExperimentResult:
    """Run the cells of an experiment that are not complete, as `hpcsched experiment` does.

    Parameters
    ----------
    file
        The experiment's file.
    out
        Folder of the runs; `runs/NAME` by default.
    overrides
        Settings of every cell, such as `seed=7`.
    only
        Labels of the cells to run; all by default.
    executor
        Executor in place of the file's, in YAML.
    jobs
        Largest number of cells that run at a time.
    again
        Whether complete cells are run again.

    Returns
    -------
    ExperimentResult
        The experiment; a cell that fails is no exception.

    Raises
    ------
    InputError
        If the experiment is not valid, or another process works in its folder.

    Examples
    --------
    ::

        result = hpcsched.run_experiment("kth.yaml")
        result.compare()
    """
    read = read_experiment(file, overrides, executor)
    folder = ExperimentFolder(Path(out or Path("runs") / read.declaration.name))
    chosen = choose_cells(read, only)
    run_in_folder(read, chosen, folder, jobs, again=again)
    return ExperimentResult(folder.path, tuple(chosen))


def run_in_folder(
    read: Experiment,
    chosen: Sequence[Cell],
    folder: ExperimentFolder,
    limit: int | None = None,
    *,
    again: bool = False,
    listener: Listener | None = None,
) -> int:
    """Run cells of an experiment, and keep the index of its folder.

    Parameters
    ----------
    read
        The experiment.
    chosen
        The cells to run.
    folder
        Its folder, which is locked meanwhile.
    limit
        Largest number of cells that run at a time.
    again
        Whether complete cells are run again.
    listener
        Hears of the cells.

    Returns
    -------
    int
        Number of cells that failed.
    """
    told: Listener = _Silent() if listener is None else listener
    failed = 0
    with folder.locked():
        index = IndexWriter(read, folder)
        run = {cell.address for cell in chosen}
        # Cells that were not chosen keep what the index said of them.
        index.carry_over([cell for cell in read.cells if cell.address not in run])
        runner = build_executor(read.declaration.executor, manager.registry(), folder.path)
        try:
            with told:
                outcomes = run_cells(
                    chosen, folder, runner, limit=limit, again=again, started=told.started
                )
                # Noted one by one: a killed process leaves an index of what had ended.
                for outcome in outcomes:
                    index.note(outcome)
                    told.ended(outcome)
                    failed += outcome.status == "failed"
        finally:
            # Also after a failure or an interrupt: the index must name the runs that are there.
            index.write()
    return failed
