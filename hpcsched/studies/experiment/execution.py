"""Execution of cells; complete runs are kept."""

import shutil
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from hpcsched.errors import HpcschedError, InputError, PluginError
from hpcsched.plugin_faults import FAULTS, is_third_party, named, raised, remember
from hpcsched.plugins.plugin_checks import check_product
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.choices import NamedChoice
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.executors.attempt import LOG, RUN
from hpcsched.studies.experiment.executors.executor import Ended, Executor, Task, result_fault
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.index import CellStatus, make_index, read_index, write_index
from hpcsched.studies.experiment.reading import Experiment

PROGRAM = "hpcsched.studies.experiment.one_cell"

Status = Literal["done", "kept", "failed"]

INTERVAL = 1.0
"""Real seconds between two writes of the index."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a cell.

    Attributes
    ----------
    status
        `kept`: its run existed already.
    seconds
        Real seconds that it took now.
    message
        Reason of a failure.
    """

    cell: Cell
    status: Status
    seconds: float = 0.0
    message: str = ""


def build_executor(choice: NamedChoice, registry: Registry, folder: Path) -> Executor:
    """Return the chosen executor.

    Raises
    ------
    PluginError
        If it cannot be built.
    """
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
    started: Callable[[Cell], None] = lambda _: None,
) -> Iterator[Outcome]:
    """Run cells in a locked folder, and yield the outcome of each as soon as it is known.

    Cells with one address are run once. An exception of the caller, or Ctrl-C, stops the running
    cells and begins no others.

    Parameters
    ----------
    cells
        The cells.
    folder
        Locked folder of the experiment.
    executor
        Executor of the runs.
    limit
        Largest number of cells that run at a time.
    again
        True: run cells again that are complete.
    started
        Called with each cell that begins, maybe from another thread.
    """
    alike: dict[str, list[Cell]] = {}
    for cell in cells:
        alike.setdefault(cell.address, []).append(cell)
    tasks = []
    for address, same in alike.items():
        # The run itself is looked at and not the index, which a killed experiment may have left
        # behind.
        if not again and folder.run_of(same[0]) is not None:
            yield from (Outcome(cell, "kept") for cell in same)
        else:
            cell = same[0]
            tasks.append(Task(address, PROGRAM, cell.text, cell.files, folder.unfinished))

    def tell(task: Task) -> None:
        started(alike[task.name][0])

    if not tasks:
        return
    with closing(_each(executor, tasks, limit, tell)) as running:
        for ended in running:
            first, *others = alike[ended.task.name]
            outcome = _settle(ended, first, folder)
            yield outcome
            for cell in others:
                message = outcome.message
                yield Outcome(cell, "failed" if message else "kept", 0.0, message)


def _each(
    executor: Executor,
    tasks: Sequence[Task],
    limit: int | None,
    started: Callable[[Task], None],
) -> Generator[Ended, None, None]:
    """Yield the results of an executor, and close it with this generator if possible.

    Raises
    ------
    PluginError
        If the executor fails, or a result is not one of the tasks that are left.
    """
    whose, left = named("executor", executor), {task.name for task in tasks}
    running = _results(executor, tasks, limit, started)
    with closing(running):
        for ended in running:
            fault = result_fault(ended, left)
            if fault is not None:
                raise PluginError(f"{whose}: {fault}")
            left.discard(ended.task.name)
            yield ended
    if left:
        raise PluginError(f"{whose}: expected a result of every task, found none of {min(left)}")


def _results(
    executor: Executor,
    tasks: Sequence[Task],
    limit: int | None,
    started: Callable[[Task], None],
) -> Generator[Any, None, None]:
    try:
        yield from executor.run(tasks, limit, started)
    except (HpcschedError, GeneratorExit):
        raise
    except Exception as error:
        if not is_third_party(executor):
            raise
        raise PluginError(f"{named('executor', executor)}: {raised(error)}") from error


def _settle(ended: Ended, cell: Cell, folder: ExperimentFolder) -> Outcome:
    """Move the run of a task to its place, and return the outcome of the cell."""
    log = folder.log(cell)
    message = ended.message
    try:
        if not message and ended.attempt is None:
            message = "it ended well, and left no run"
        elif not message and ended.attempt is not None:
            message = folder.take(ended.attempt / RUN, cell)
            if not message:
                log.unlink(missing_ok=True)
                return Outcome(cell, "done", ended.seconds)
        if ended.attempt is not None and (ended.attempt / LOG).exists():
            # Moved before the attempt is removed: the log is all that is left of a failed cell.
            (ended.attempt / LOG).replace(log)
            message += f" (see {log})"
    except OSError as error:
        message = f"{error.filename}: {error.strerror}"
    finally:
        if ended.attempt is not None:
            shutil.rmtree(ended.attempt, ignore_errors=True)
    return Outcome(cell, "failed", ended.seconds, message)


class IndexWriter:
    """Writer that keeps the index of a running experiment current."""

    def __init__(self, experiment: Experiment, folder: ExperimentFolder) -> None:
        self._experiment = experiment
        self._folder = folder
        self._statuses: dict[str, tuple[CellStatus, str]] = {}
        self._due = 0.0

    def carry_over(self, cells: Collection[Cell]) -> None:
        """Add cells that are not run this time: their runs, and earlier failures."""
        failed: dict[str, str] = {}
        with suppress(InputError):  # there is no index yet, or it is damaged and written anew
            # A failed cell that is not among the chosen ones this time stays failed, with its
            # message.
            for earlier in read_index(self._folder.path).cells:
                if earlier.status == "failed":
                    failed[earlier.address] = earlier.message
        for cell in cells:
            if self._folder.run_of(cell) is not None:
                self._statuses[cell.address] = ("complete", "")
            elif cell.address in failed:
                self._statuses[cell.address] = ("failed", failed[cell.address])

    def note(self, outcome: Outcome) -> None:
        """Add an outcome, and write the index at intervals."""
        status: CellStatus = "failed" if outcome.status == "failed" else "complete"
        self._statuses[outcome.cell.address] = (status, outcome.message)
        # An index of 100,000 cells takes its time to write, and cells may end many times a second.
        if monotonic() >= self._due:
            self.write()
            self._due = monotonic() + INTERVAL

    def write(self) -> None:
        """Write the index.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        name, cells = self._experiment.declaration.name, self._experiment.cells
        index = make_index(name, self._experiment.axes, cells, self._statuses)
        write_index(self._folder.index, index)
