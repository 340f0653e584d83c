"""Executors of tasks: their protocol, attempts at a task, and the executor `local`."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from select import select
from socket import socketpair
from threading import Event
from time import perf_counter
from typing import Any, Literal, NamedTuple, Protocol, Self

from pydantic import Field, model_validator

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.registration import Caution, builtin


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
    """Create and return the folder of an attempt; raises OSError if that fails."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))


def carry_out(
    program: str,
    scenario: str,
    attempt: Path,
    overrides: Sequence[str] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """Run a task's program to its end; return the reason of a failure, or nothing.

    Raises OSError if the folder cannot be written.
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


SERVER = "hpcsched.studies.executors.fork_server"


class ForkServer:
    """Process of the program `SERVER`, which forks one for each task that it is given."""

    def __init__(self) -> None:
        self._socket, theirs = socketpair()
        self._answers = self._socket.makefile("r")
        number = theirs.fileno()
        # Python 3.12 warns of forks beside the idle threads of libraries.
        quiet = ["-W", "ignore:This process:DeprecationWarning"]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", *quiet, "-m", SERVER, str(number)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,
            )

    def carry_out(
        self, program: str, scenario: str, attempt: Path, stopped: Callable[[], bool]
    ) -> str | None:
        """Run a task's program like the function `carry_out`; return None if the server is lost.

        A server that is lost, or stopped, takes no more tasks.
        """
        (attempt / SCENARIO).write_text(scenario, encoding="utf-8")
        asked = [program, *(str(attempt / name) for name in (SCENARIO, RUN, LOG))]
        with suppress(ConnectionError):
            self._socket.sendall(f"{json.dumps(asked)}\n".encode())
        while not stopped():
            if select([self._socket], [], [], POLL)[0]:
                answer = self._answers.readline()
                if not answer:
                    self._kill()
                    self.close()
                    return None
                return _why(int(answer), attempt / LOG) if int(answer) else ""
        self.close()
        return STOPPED

    def close(self) -> None:
        """End the process and its task; kill them after `GRACE` seconds."""
        assert self._process.stdin is not None
        for file in (self._process.stdin, self._answers, self._socket):
            file.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


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

    jobs: int | None = Field(default=None, ge=1)
    """Number of cells at a time; by default one for each processor."""


@builtin("executor", "local", LocalParams)
class LocalExecutor:
    """Executor: processes of this machine.

    They end with the process that started them.

    Servers fork them. A task whose server is lost runs again, in a process started for it alone.
    """

    def __init__(self, params: LocalParams) -> None:
        self._jobs = params.jobs

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run tasks; see `hpcsched.studies.executors.executor.Executor`."""
        stop, idle = Event(), SimpleQueue[ForkServer]()
        # Threads suffice: each only waits for a process, and the replay is in that process.
        with ThreadPoolExecutor(limit or self._jobs or os.cpu_count() or 1) as threads:
            futures = [threads.submit(_ended, task, started, stop, idle) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                stop.set()
                threads.shutdown(wait=True, cancel_futures=True)
                while not idle.empty():
                    idle.get().close()


def _ended(
    task: Task, started: Callable[[Task], None], stop: Event, idle: SimpleQueue[ForkServer]
) -> Ended:
    started(task)
    began = perf_counter()
    attempt = None
    try:
        attempt = new_attempt(task.folder, task.name)
        try:
            server = idle.get_nowait()
        except Empty:
            server = ForkServer()
        answer = server.carry_out(task.program, task.scenario, attempt, stop.is_set)
        if answer is None:
            answer = carry_out(task.program, task.scenario, attempt, (), stop.is_set)
        elif answer != STOPPED:
            idle.put(server)
        message = answer
    except OSError as error:
        message = f"{error.filename or task.folder}: {error.strerror or error}"
    return Ended(task, attempt, perf_counter() - began, message)


class JobQueue(Params):
    """Cluster with a batch system, to which jobs with workers in them are submitted."""

    cluster: Literal["slurm", "pbs", "sge", "lsf", "oar"]
    """The batch system, as dask-jobqueue knows it."""
    jobs: int = Field(default=1, ge=1)
    """Largest number of batch jobs at a time; one that ends is replaced while cells wait."""
    least_jobs: int = Field(default=0, ge=0)
    """Smallest number of batch jobs, also when there are cells for fewer."""
    most_queued: int = Field(default=10, ge=1)
    """Largest number of batch jobs that wait in the queue of the batch system."""
    cores: int = Field(default=1, ge=1)
    """Cores of each job, for one cell each."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Other arguments of dask-jobqueue's class, such as memory: 16GiB, walltime: '02:00:00', queue
    or account."""

    @model_validator(mode="after")
    def _check_jobs(self) -> Self:
        if self.least_jobs > self.jobs:
            raise ValueError(f"expected least_jobs up to jobs, found {self.least_jobs}")
        return self


class DaskParams(Params):
    """Place of the workers: exactly one of `address`, `workers` and `jobqueue`."""

    address: str | None = Field(default=None, min_length=1)
    """Address of an existing scheduler, such as tcp://host:8786."""
    workers: int | None = Field(default=None, ge=1)
    """Number of worker processes, of one thread each, to start on this machine."""
    jobqueue: JobQueue | None = None
    """Batch system that starts the workers."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if [self.address, self.workers, self.jobqueue].count(None) != 2:
            raise ValueError("expected one of 'address', 'workers' and 'jobqueue'")
        return self


def what_to_install(params: DaskParams) -> str | None:
    """Return the command that installs missing packages; None if none is missing."""
    wanted = {"dask": "dask", "distributed": "distributed"}
    if params.jobqueue is not None:
        wanted["dask_jobqueue"] = "dask-jobqueue"
    missing = [package for module, package in wanted.items() if find_spec(module) is None]
    if not missing:
        return None
    return f"executor dask: not installed: {', '.join(missing)}; pip install 'hpcsched[dask]'"


def review_dask(params: DaskParams, _system: object) -> Iterator[Caution]:
    """Yield an error if packages are missing, with the command that installs them."""
    missing = what_to_install(params)
    if missing:
        yield Caution("not-installed", missing, severity="error")


@builtin(
    "executor",
    "dask",
    DaskParams,
    summary="workers of a Dask cluster: here, at an address, or started by a batch system",
    review=review_dask,
)
def make_dask(params: DaskParams, _folder: object) -> Executor:
    """Return the executor."""
    missing = what_to_install(params)
    if missing:
        raise PluginError(missing)
    from hpcsched.studies.executors.dask_cluster import DaskExecutor  # noqa: PLC0415

    return DaskExecutor(params)
