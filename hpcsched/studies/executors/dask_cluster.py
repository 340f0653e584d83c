"""Executor `dask`: tasks run by the workers of a Dask cluster."""

import hashlib
import io
import json
import shutil
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile

from distributed import Client, Future, LocalCluster, get_worker, wait
from distributed.client import FuturesCancelledError

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.studies.executors.dask_params import ClusterKind, DaskParams, JobQueue
from hpcsched.studies.executors.executor import (
    LOG,
    RUN,
    Ended,
    Task,
    TaskFile,
    carry_out,
    new_attempt,
)
from hpcsched.whole_files import share_bytes, write_bytes, write_text

_MANIFEST = "manifest.json"
_RESOLVED = "scenario.yaml"


def pack(attempt: Path, *, run: bool) -> bytes:
    """Return the log of an attempt, and with `run` its run directory, as an archive."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name in (LOG, RUN) if run else (LOG,):
            # Sorted and lightly compressed: Parquet files are compressed already, and JSON shrinks
            # at any level.
            for path in sorted([attempt / name, *(attempt / name).rglob("*")]):
                if path.exists():
                    archive.write(path, path.relative_to(attempt))
    return buffer.getvalue()


def unpack(content: bytes, attempt: Path) -> None:
    """Write an archive into a folder."""
    with ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(attempt)


def put_back_paths(run: Path, scenario: str, paths: Mapping[str, str]) -> None:
    """Replace the paths of another machine in a run by those of this one."""
    resolved = scenario.encode()
    write_bytes(run / _RESOLVED, resolved)
    manifest = run / _MANIFEST
    content = json.loads(manifest.read_text(encoding="utf-8"))
    if content["files"]:  # not while the run was killed before its end
        content["files"][_RESOLVED] = hashlib.sha256(resolved).hexdigest()
    for file in content["trace_files"]:
        file["path"] = paths.get(file["path"], file["path"])
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_text(manifest, f"{text}\n")


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


TRIES = 3
"""Number of submissions of a task that is lost on the way."""

INTERVAL = 1.0
"""Real seconds between two looks at the number of workers."""

CLUSTERS: Mapping[ClusterKind, tuple[str, str]] = {
    "slurm": ("SLURMCluster", "account"),
    "pbs": ("PBSCluster", "account"),
    "sge": ("SGECluster", "project"),
    "lsf": ("LSFCluster", "project"),
    "oar": ("OARCluster", "project"),
}
"""The classes of dask-jobqueue, and what each calls the one who is charged."""


class DaskExecutor:
    """Executor on the workers of an existing cluster, or of one started for it."""

    def __init__(self, params: DaskParams) -> None:
        self._params = params

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run tasks; see `hpcsched.studies.executors.executor.Executor`."""
        with ExitStack() as stack:
            try:
                client = stack.enter_context(Client(self._cluster(stack, limit)))
            except OSError as error:
                message = f"no scheduler answers at {self._params.address}: {error}"
                raise InputError(Finding("no-scheduler", message)) from error
            yield from _Session(client, ship=self._params.ship).run(tasks, limit, started)

    def _cluster(self, stack: ExitStack, limit: int | None) -> Any:
        params = self._params
        if params.address is not None:
            return params.address
        if params.jobqueue is not None:
            cluster = stack.enter_context(make_jobqueue(params.jobqueue))
            cluster.scale(jobs=params.jobqueue.jobs)
            return cluster
        assert params.workers is not None
        return stack.enter_context(
            LocalCluster(
                n_workers=min(params.workers, limit or params.workers),
                threads_per_worker=1,
                memory_limit=0,  # what runs is not in the workers' own memory
                dashboard_address="127.0.0.1:0",  # any port that is free
            )
        )


def make_jobqueue(params: JobQueue) -> Any:
    """Return a dask-jobqueue cluster without workers yet."""
    import dask_jobqueue  # noqa: PLC0415 (not needed for other clusters)

    name, account = CLUSTERS[params.cluster]
    hours, rest = divmod(params.walltime, 3600)
    given = {"queue": params.queue, account: params.account}
    arguments = {
        "cores": params.cores,
        "processes": params.cores,
        "memory": f"{params.memory} B",
        "walltime": f"{hours:02}:{rest // 60:02}:{rest % 60:02}",
        "scheduler_options": {"dashboard_address": ":0"},  # any port that is free
        **{key: value for key, value in given.items() if value is not None},
        **params.options,
    }
    try:
        return getattr(dask_jobqueue, name)(**arguments)
    except (TypeError, ValueError) as error:
        raise PluginError(f"executor dask: dask-jobqueue refuses 'jobqueue': {error}") from error


class _Session:
    """Submission of tasks to a client's workers, and collection of results."""

    def __init__(self, client: Client, *, ship: bool) -> None:
        self._client = client
        self._ship = ship
        self._contents: dict[str, Future[Any]] = {}

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        waiting = deque((task, 1) for task in tasks)
        pending: dict[Future[Any], tuple[Task, int]] = {}
        try:
            while waiting or pending:
                # Asked anew each time: workers of a batch system come and go while tasks run.
                room = limit or max(1, sum(self._client.nthreads().values()))
                while waiting and len(pending) < room:
                    task, tries = waiting.popleft()
                    pending[self._submit(task)] = task, tries
                    started(task)
                try:
                    wait(list(pending), timeout=INTERVAL, return_when="FIRST_COMPLETED")
                except TimeoutError:
                    continue
                except FuturesCancelledError:
                    pass  # a worker took what it had been sent with it
                for future in [future for future in pending if future.done()]:
                    task, tries = pending.pop(future)
                    if future.status == "finished":
                        yield self._ended(task, future.result())
                    # A program that fails is a result; what is lost here went with a worker.
                    elif tries < TRIES:
                        self._contents.clear()  # what was sent may be lost with a worker
                        waiting.append((task, tries + 1))
                    else:
                        yield Ended(task, None, 0.0, _why(future))
        finally:
            self._client.cancel(list(pending))

    def _submit(self, task: Task) -> Future[Any]:
        # A key of its own for each submission: Dask answers a known key with its earlier result.
        key = f"{task.name}-{uuid4().hex}"
        if not self._ship:
            return self._client.submit(run_here, task, key=key)
        contents = [self._content(file) for file in task.files]
        return self._client.submit(run_shipped, task, *contents, key=key)

    def _content(self, file: TaskFile) -> Future[Any]:
        """Return the content of a file on the workers, sent once for all tasks."""
        if file.sha256 not in self._contents:
            try:
                content = Path(file.path).read_bytes()
            except OSError as error:
                message = f"{file.path}: it cannot be read: {error.strerror}"
                raise InputError(Finding("missing-file", message)) from error
            self._client.wait_for_workers(1)
            self._contents[file.sha256] = self._client.scatter(content, broadcast=True, hash=False)
        return self._contents[file.sha256]

    def _ended(self, task: Task, returned: Returned) -> Ended:
        if returned.attempt is not None:
            return Ended(task, Path(returned.attempt), returned.seconds, returned.message)
        if returned.archive is None:
            return Ended(task, None, returned.seconds, returned.message)
        attempt = new_attempt(task.folder, task.name)
        unpack(returned.archive, attempt)
        if not returned.message:
            paths = {path: task.files[k].path for path, k in returned.paths.items()}
            put_back_paths(attempt / RUN, task.scenario, paths)
        return Ended(task, attempt, returned.seconds, returned.message)


def _why(future: Future[Any]) -> str:
    if future.status == "cancelled":
        return f"its workers were lost {TRIES} times"
    error = future.exception()
    return " ".join(f"{type(error).__name__}: {error}".split())
