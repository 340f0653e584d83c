"""Work of a Dask worker on a task: start its program and wait for it.

The program is a process of its own, so that it can be stopped, and so that a task with too much
memory does not end the worker. It ends with the worker, through its standard input.
"""

import hashlib
import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from distributed import get_worker

from hpcsched.studies.experiment.executors.attempt import carry_out, new_attempt
from hpcsched.studies.experiment.executors.executor import Task
from hpcsched.studies.experiment.executors.packing import pack
from hpcsched.whole_files import share_bytes

RUNNING = ("executing", "long-running")
"""States of Dask in which a client still waits for the task."""


class Returned(NamedTuple):
    """Answer of a worker.

    Attributes
    ----------
    attempt
        Folder of the attempt, if files are shared.
    archive
        Content of that folder, if they are not.
    paths
        Number of each trace file among the task's, by its path on the worker.
    seconds, message
        Real seconds, and the reason of a failure.
    """

    attempt: str | None
    archive: bytes | None
    paths: dict[str, int]
    seconds: float
    message: str


def run_here(task: Task) -> Returned:
    """Run a task with files that this worker can read."""
    began = perf_counter()
    if not task.folder.is_dir():
        message = (
            f"the worker on {socket.gethostname()} does not see the folder {task.folder};"
            " 'ship: true' sends files there and back"
        )
        return Returned(None, None, {}, 0.0, message)
    attempt = new_attempt(task.folder, task.name)
    message = carry_out(task.program, task.scenario, attempt, (), _wanted_no_more())
    return Returned(str(attempt), None, {}, perf_counter() - began, message)


def run_shipped(task: Task, *contents: bytes) -> Returned:
    """Run a task with files sent along, and return its results."""
    began = perf_counter()
    base = Path(get_worker().local_directory)
    copies = [
        _copy(base, Path(file.path).name, content)
        for file, content in zip(task.files, contents, strict=True)
    ]
    overrides = [
        f"{file.key}={json.dumps(str(copy))}" for file, copy in zip(task.files, copies, strict=True)
    ]
    attempt = new_attempt(base, task.name)
    try:
        message = carry_out(task.program, task.scenario, attempt, overrides, _wanted_no_more())
        archive = pack(attempt, run=not message)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    paths = {str(copy): k for k, copy in enumerate(copies)}
    return Returned(None, archive, paths, perf_counter() - began, message)


def _copy(base: Path, name: str, content: bytes) -> Path:
    """Return a file with this content, named by its SHA-256, written unless it exists."""
    path = base / "hpcsched-files" / hashlib.sha256(content).hexdigest() / name
    if not path.exists():
        # Workers of one machine share the folder.
        share_bytes(path, content)
    return path


def _wanted_no_more() -> Callable[[], bool]:
    """Return a function that tells if this thread's task is cancelled or its client gone."""
    worker = get_worker()
    key = worker.get_current_task()

    def stopped() -> bool:
        state = worker.state.tasks.get(key)
        return state is None or state.state not in RUNNING

    return stopped
