"""Protocol of executors: tasks and their results."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class TaskFile(NamedTuple):
    """An input file of a task: its key path in the scenario, its path, and its SHA-256."""

    key: str
    path: str
    sha256: str


class Task(NamedTuple):
    """A scenario to be replayed by a program of its own.

    Attributes
    ----------
    program
        Python module, run as `python -m PROGRAM SCENARIO OUT [KEY.PATH=VALUE...]`, which stops when
        its standard input ends.
    scenario
        YAML text with absolute paths.
    files
        Input files.
    folder
        Folder of attempts, each in a new folder of its own
        (`hpcsched.experiment.executors.attempt`).
    """

    name: str
    program: str
    scenario: str
    files: tuple[TaskFile, ...]
    folder: Path


class Ended(NamedTuple):
    """Result of a task.

    Attributes
    ----------
    attempt
        Folder of the attempt on this machine, if there is one.
    seconds
        Real seconds that the program ran.
    message
        Reason of a failure in one line; empty otherwise.
    """

    task: Task
    attempt: Path | None
    seconds: float
    message: str


class Executor(Protocol):
    """Protocol of executors."""

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run tasks and yield the result of each as soon as it is known.

        A task that fails is no exception. Closing the iterator stops the running tasks, and begins
        no others.

        Parameters
        ----------
        tasks
            The tasks.
        limit
            Largest number of tasks at a time; None: as many as there is room for.
        started
            Called with each task that begins, from any thread.

        Raises
        ------
        InputError
            If nothing can be run at all.
        """
