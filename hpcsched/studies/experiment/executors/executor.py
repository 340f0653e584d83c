"""Protocol of executors: tasks and their results."""

from collections.abc import Callable, Container, Iterator, Sequence
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
    name
        Name of the task, unlike that of any other.
    program
        Python module, run as `python -m PROGRAM SCENARIO OUT [KEY.PATH=VALUE...]`, which stops when
        its standard input ends.
    scenario
        YAML text with absolute paths.
    files
        Input files.
    folder
        Folder of attempts, each in a new folder of its own
        (`hpcsched.studies.experiment.executors.attempt`).
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
    task
        The task.
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


def result_fault(ended: object, left: Container[str]) -> str | None:
    """Return why a value is no result of an executor; None if it is one.

    Parameters
    ----------
    ended
        A value that `Executor.run` yields.
    left
        Names of the tasks without a result so far.
    """
    if not isinstance(ended, Ended) or not isinstance(ended.task, Task):
        return f"expected an Ended with its Task, found {ended!r}"
    if ended.task.name not in left:
        return f"expected one result of each task, found another of {ended.task.name}"
    if not isinstance(ended.message, str):
        return f"expected a message as text, found {ended.message!r}"
    if ended.attempt is not None and not isinstance(ended.attempt, Path):
        return f"expected the path of an attempt, or None, found {ended.attempt!r}"
    if not ended.message and ended.attempt is None:
        return f"expected the attempt of {ended.task.name}, which ended well, found None"
    return None


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

        Returns
        -------
        Iterator[Ended]
            One result of each task, with its real seconds.

        Raises
        ------
        InputError
            If nothing can be run at all.
        """
