"""What an executor is asked to run, and what it answers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class TaskFile(NamedTuple):
    """A file that a task reads: where its path stands in the scenario, the path, its SHA-256."""

    key: str
    path: str
    sha256: str


class Task(NamedTuple):
    """A scenario to be replayed by a program of its own.

    `program` is a Python module, run as `python -m PROGRAM SCENARIO OUT [KEY.PATH=VALUE...]`, which
    stops when its standard input ends. `scenario` is a YAML text with absolute paths. `folder` is
    where attempts go, each into a new folder of its own (`hpcsched.experiment.executors.attempt`).
    """

    name: str
    program: str
    scenario: str
    files: tuple[TaskFile, ...]
    folder: Path


class Ended(NamedTuple):
    """What became of a task: `attempt` is its folder here, if there is one.

    `message` says in a line why it failed, and is empty where the program ended well. `seconds` is
    how long the program ran, by the clock.
    """

    task: Task
    attempt: Path | None
    seconds: float
    message: str


class Executor(Protocol):
    """Runs tasks somewhere."""

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run tasks and yield what became of each as soon as it is known.

        At most `limit` run at a time; where it is None, as many as there is room for. `started` is
        told of each task that begins, from any thread. A task that fails is no exception. Closing
        the iterator stops what runs, and begins nothing more. Raises InputError where nothing can
        be run at all.
        """
