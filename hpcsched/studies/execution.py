"""Execution of the cells of an experiment in its folder; complete runs are kept."""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hpcsched.errors import Finding, HpcschedError, InputError, PluginError
from hpcsched.plugin_faults import FAULTS, is_third_party, named, raised, remember
from hpcsched.plugins import manager
from hpcsched.plugins.plugin_checks import check_product
from hpcsched.plugins.registry import Registry
from hpcsched.report.job_breakdown import ClassName
from hpcsched.report.studying import StudyComparison, compare
from hpcsched.runs.files import write_json
from hpcsched.runs.run_result import RunResult, open_run
from hpcsched.scenario.choices import NamedChoice
from hpcsched.studies.cell import Cell
from hpcsched.studies.executors.executor import LOG, RUN, Ended, Executor, Task, result_fault
from hpcsched.studies.experiment_folder import (
    FORMAT,
    CellOutcome,
    CellStatus,
    ExperimentFolder,
    ExperimentStatus,
    Index,
    IndexedCell,
    experiment_status,
    experiment_status_text,
    read_index,
)
from hpcsched.studies.study_files import Experiment, choose_cells, read_experiment

PROGRAM = "hpcsched.studies.one_cell"

Status = Literal["done", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a cell, with the real seconds that it took now."""

    cell: Cell
    status: Status
    seconds: float = 0.0
    message: str = ""


def build_executor(choice: NamedChoice, registry: Registry, folder: Path) -> Executor:
    """Return the chosen executor."""
    installed = registry.get("executor", choice.plugin_name)
    # An executor belongs to no scenario, so there is no context but a folder.
    factory: Any = installed.plugin.factory
    origin = installed.origin
    try:
        built: Any = factory(choice, folder)
    except HpcschedError:
        raise
    except FAULTS as error:
        raise PluginError(f"{origin}: cannot be built: {raised(error)}") from error
    check_product(built, origin)
    remember(built, origin)
    executor: Executor = built
    return executor


def run_cells(
    cells: Sequence[Cell],
    folder: ExperimentFolder,
    executor: Executor,
    *,
    limit: int | None = None,
    again: bool = False,
    started: Callable[[Task], None] = lambda _: None,
) -> Iterator[Outcome]:
    """Run cells in a locked folder, and yield the outcome of each as soon as it is known.

    An exception of the caller, or Ctrl-C, stops the running cells and begins no others.
    """
    by_address = {cell.address: cell for cell in cells}
    # Grouped by workload, which an executor may read once for all of a group.
    groups: dict[str, list[Task]] = {}
    for address, cell in by_address.items():
        # The run itself is looked at and not the index, which a killed experiment may have left
        # behind.
        if not again and folder.run_of(cell) is not None:
            yield Outcome(cell, "kept")
        else:
            task = Task(address, PROGRAM, cell.text, cell.files, folder.unfinished)
            groups.setdefault(cell.workload, []).append(task)
    tasks = [task for group in groups.values() for task in group]
    if tasks:
        with closing(_results(executor, tasks, limit, started)) as running:
            for ended in running:
                yield _settle(ended, by_address[ended.task.name], folder)


def _results(
    executor: Executor, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
) -> Generator[Ended, None, None]:
    """Yield the results of an executor, and close it with this generator if possible."""
    whose, left = named("executor", executor), {task.name for task in tasks}
    try:
        results = executor.run(tasks, limit, started)
        with closing(results) if isinstance(results, Generator) else nullcontext():
            for ended in results:
                fault = result_fault(ended, left)
                if fault is not None:
                    raise PluginError(f"{whose}: {fault}")
                left.discard(ended.task.name)
                yield ended
    except HpcschedError:
        raise
    except Exception as error:
        if not is_third_party(executor):
            raise
        raise PluginError(f"{whose}: {raised(error)}") from error
    if left:
        raise PluginError(f"{whose}: expected a result of every task, found none of {min(left)}")


def _settle(ended: Ended, cell: Cell, folder: ExperimentFolder) -> Outcome:
    """Move the run of a task to its place, and return the outcome of the cell."""
    log, message, attempt = folder.log(cell), ended.message, ended.attempt
    try:
        if not message and attempt is not None:
            message = folder.take(attempt / RUN, cell)
            if not message:
                log.unlink(missing_ok=True)
                return Outcome(cell, "done", ended.seconds)
        if attempt is not None and (attempt / LOG).exists():
            # Moved before the attempt is removed: the log is all that is left of a failed cell.
            (attempt / LOG).replace(log)
            message += f" (see {log})"
    except OSError as error:
        message = f"{error.filename}: {error.strerror}"
    finally:
        if attempt is not None:
            shutil.rmtree(attempt, ignore_errors=True)
    return Outcome(cell, "failed", ended.seconds, message)


class IndexWriter:
    """Writer of an experiment's index, at its begin and end, and of a line for each outcome.

    Cells that are not chosen this time keep their runs, and their earlier failures.
    """

    def __init__(
        self, experiment: Experiment, folder: ExperimentFolder, chosen: Sequence[Cell]
    ) -> None:
        self._experiment = experiment
        self._folder = folder
        self._outcomes: dict[str, CellOutcome] = {}
        failed: dict[str, CellOutcome] = {}
        with suppress(InputError):  # there is no index yet, or it is damaged and written anew
            for one in read_index(folder.path).cells:
                if one.status == "failed":
                    failed[one.address] = CellOutcome(one.address, one.status, one.message)
        run = {cell.address for cell in chosen}
        for cell in experiment.cells:
            if cell.address in run:
                continue
            if folder.run_of(cell) is not None:
                self._outcomes[cell.address] = CellOutcome(cell.address, "complete", "")
            elif cell.address in failed:
                self._outcomes[cell.address] = failed[cell.address]
        self.write()

    def note(self, outcome: Outcome) -> None:
        """Add an outcome: a line of its own, since an index of 100,000 cells has 40 MB."""
        status: CellStatus = "failed" if outcome.status == "failed" else "complete"
        ended = CellOutcome(outcome.cell.address, status, outcome.message)
        self._outcomes[ended.address] = ended
        self._folder.append_outcome(ended)

    def write(self) -> None:
        """Write the index, which makes the lines of single outcomes superfluous."""
        cells = []
        for cell in self._experiment.cells:
            # Relative paths, so that a folder can be moved or copied to another machine.
            indexed = IndexedCell(
                name=cell.name,
                labels=dict(cell.labels),
                replica=cell.replica,
                seed=cell.seed,
                address=cell.address,
                run=f"runs/{cell.address}",
            )
            cells.append(indexed.after(self._outcomes.get(cell.address)))
        labels = {axis.name: list(axis.labels) for axis in self._experiment.axes}
        name = self._experiment.name
        index = Index(format=FORMAT, experiment=name, axes=labels, cells=cells)
        write_json(self._folder.index, index.model_dump(mode="json"))
        self._folder.outcomes.unlink(missing_ok=True)


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment that has been run."""

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
        """Compare the complete runs, as `hpcsched.compare` does."""
        return compare(self.folder, baseline=baseline, by=by, recorded=recorded)

    def _repr_markdown_(self) -> str:
        """Return the comparison for notebooks; the status where nothing can be compared yet."""
        if not self.runs:
            return f"```text\n{experiment_status_text(self.status)}\n```"
        return self.compare().as_markdown()


def run_experiment(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    overrides: Sequence[str] = (),
    only: Sequence[str] = (),
    shard: str | None = None,
    executor: str | None = None,
    jobs: int | None = None,
    again: bool = False,
) -> ExperimentResult:
    """Run the cells of an experiment that are not complete, as `hpcsched experiment` does.

    Parameters
    ----------
    out
        Folder of the runs; `runs/NAME` by default.
    overrides
        Settings of every cell, such as `seed=7`.
    only
        Labels of the cells to run; all by default.
    shard
        A part of these cells, `"2/8"` for the second of eight, with a folder of its own within
        `out`; without it, the complete runs of such folders are taken over first.

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
    folder = ExperimentFolder(Path(out or Path("runs") / read.name))
    chosen = choose_cells(read, only)
    if shard is not None:
        chosen, folder = choose_shard(chosen, folder, shard)
    run_in_folder(read, chosen, folder, jobs, again=again)
    return ExperimentResult(folder.path, tuple(chosen))


def choose_shard(
    cells: Sequence[Cell], folder: ExperimentFolder, shard: str
) -> tuple[Sequence[Cell], ExperimentFolder]:
    """Return every N-th cell, from the K-th on, and the folder for them, for the shard `K/N`."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", shard)
    number, of = map(int, match.groups()) if match else (1, 0)
    if number > of:
        message = f"expected K/N, the K-th of N parts (2/8), found {shard!r}"
        raise InputError(Finding("bad-value", message, key="shard"))
    if of > len(cells):
        message = f"expected at most a part for each of the {len(cells)} cells, found {of} parts"
        raise InputError(Finding("bad-value", message, key="shard"))
    return cells[number - 1 :: of], folder.shard(number, of)


def run_in_folder(
    read: Experiment,
    chosen: Sequence[Cell],
    folder: ExperimentFolder,
    limit: int | None = None,
    *,
    again: bool = False,
    ended: Callable[[Outcome], None] = lambda _: None,
) -> int:
    """Run cells of an experiment, and keep the index of its folder; return how many failed."""
    failed = 0
    with folder.locked():
        folder.take_shards(chosen)
        index = IndexWriter(read, folder, chosen)
        runner = build_executor(read.executor, manager.registry(), folder.path)
        try:
            # Noted one by one: a killed process leaves an index of what had ended.
            for outcome in run_cells(chosen, folder, runner, limit=limit, again=again):
                index.note(outcome)
                ended(outcome)
                failed += outcome.status == "failed"
        finally:
            # Also after a failure or an interrupt: the index must name the runs that are there.
            index.write()
    return failed
