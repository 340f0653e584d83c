"""Executors of tasks: their protocol, attempts at a task, and the executor `local`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import NamedTuple, Protocol

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.registration import builtin


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
    folder
        Folder of attempts, each in a new folder of its own
        (`hpcsched.studies.executors.executor`).
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


def result_fault(ended: object, left: Container[str]) -> str | None:
    """Return why a value is no result of an executor; None if it is one.

    Parameters
    ----------
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
        limit
            Largest number of tasks at a time; None: as many as there is room for.

        Returns
        -------
        Iterator[Ended]
            One result of each task, with its real seconds.

        Raises
        ------
        InputError
            If nothing can be run at all.
        """


SCENARIO = "scenario.yaml"
LOG = "log"
RUN = "run"

POLL = 0.1
"""Real seconds between two checks for a stop."""

GRACE = 5.0
"""Real seconds that a program has for stopping before it is killed."""

STOPPED = "it was stopped"


def new_attempt(folder: Path, name: str) -> Path:
    """Create and return the folder of an attempt.

    Raises
    ------
    OSError
        If it cannot be created.
    """
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))


def carry_out(
    program: str,
    scenario: str,
    attempt: Path,
    overrides: Sequence[str] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """Run a task's program to its end; return the reason of a failure, or nothing.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    (attempt / SCENARIO).write_text(scenario, encoding="utf-8")
    log = attempt / LOG
    files = (attempt / SCENARIO, attempt / RUN)
    command = [sys.executable, "-P", "-m", program, *map(str, files), *overrides]
    with log.open("wb") as output:
        # In a session of its own: Ctrl-C is for the one who started it, who then ends the pipe.
        # The pipe also ends where that one is killed.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdin is not None
        with process.stdin:
            code = _wait(process, stopped)
            if code is None:
                process.stdin.close()
                _end(process)
                return STOPPED
    return _why(code, log) if code else ""


def _wait(process: subprocess.Popen[bytes], stopped: Callable[[], bool]) -> int | None:
    while not stopped():
        with suppress(subprocess.TimeoutExpired):
            return process.wait(POLL)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(code: int, log: Path) -> str:
    """Return why a program failed: its last line, or its exit code."""
    # The log of a killed program ends anywhere, so its last line would mislead.
    if code < 0:
        return f"its process was ended by signal {-code}"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last or f"its process ended with exit code {code}"


class LocalParams(Params):
    """Largest number of tasks at a time."""

    jobs: int | None = Field(
        default=None,
        ge=1,
        description="Number of cells at a time; by default one for each processor.",
    )


@builtin("executor", "local", LocalParams, summary="processes of this machine")
class LocalExecutor:
    """Executor with processes of this machine, which end with the process that started them."""

    def __init__(self, params: LocalParams) -> None:
        self._jobs = params.jobs

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run tasks; see `hpcsched.studies.executors.executor.Executor`."""
        stop = Event()
        # Threads suffice: each only waits for a process, and the replay is in that process.
        with ThreadPoolExecutor(limit or self._jobs or os.cpu_count() or 1) as threads:
            futures = [threads.submit(_ended, task, started, stop) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                stop.set()
                threads.shutdown(wait=True, cancel_futures=True)


def _ended(task: Task, started: Callable[[Task], None], stop: Event) -> Ended:
    started(task)
    began = perf_counter()
    attempt = None
    try:
        attempt = new_attempt(task.folder, task.name)
        message = carry_out(task.program, task.scenario, attempt, (), stop.is_set)
    except OSError as error:
        message = f"{error.filename or task.folder}: {error.strerror or error}"
    return Ended(task, attempt, perf_counter() - began, message)
