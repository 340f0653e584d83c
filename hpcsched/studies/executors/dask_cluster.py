"""Executor `dask`: tasks run by the workers of a Dask cluster, which share the files."""

import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future, LocalCluster, get_worker, wait
from distributed.client import FuturesCancelledError

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.studies.executors.executor import (
    DaskParams,
    Ended,
    JobQueue,
    Task,
    carry_out,
    new_attempt,
)

RUNNING = ("executing", "long-running")
"""States of Dask in which a client still waits for the task."""

TRIES = 3
"""Number of submissions of a task that is lost on the way."""

INTERVAL = 1.0
"""Real seconds between two looks at the number of workers."""


class Returned(NamedTuple):
    """Answer of a worker: folder of the attempt, real seconds, and the reason of a failure."""

    attempt: str | None
    seconds: float
    message: str


def run_here(task: Task) -> Returned:
    """Run a task on the worker of this thread."""
    began = perf_counter()
    if not task.folder.is_dir():
        message = f"the worker on {socket.gethostname()} does not see the folder {task.folder}"
        return Returned(None, 0.0, message)
    worker = get_worker()
    key = worker.get_current_task()

    def stopped() -> bool:
        """Return True if the task is cancelled or its client gone."""
        state = worker.state.tasks.get(key)
        return state is None or state.state not in RUNNING

    attempt = new_attempt(task.folder, task.name)
    message = carry_out(task.program, task.scenario, attempt, (), stopped)
    return Returned(str(attempt), perf_counter() - began, message)


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
            yield from _results(client, tasks, limit, started)

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

    # One worker process for each core, and a dashboard on any port that is free.
    own = {"processes": params.cores, "scheduler_options": {"dashboard_address": ":0"}}
    try:
        cluster = getattr(dask_jobqueue, f"{params.cluster.upper()}Cluster")
        return cluster(cores=params.cores, **{**own, **params.options})
    except (TypeError, ValueError) as error:
        raise PluginError(f"executor dask: dask-jobqueue refuses 'jobqueue': {error}") from error


def _results(
    client: Client, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
) -> Iterator[Ended]:
    """Yield the results of tasks; those that are lost with their worker are submitted again."""
    waiting = deque((task, 1) for task in tasks)
    pending: dict[Future[Any], tuple[Task, int]] = {}
    try:
        while waiting or pending:
            # Looked at each time: workers of a batch system come and go while tasks run.
            room = limit or max(1, sum(client.nthreads().values()))
            while waiting and len(pending) < room:
                task, tries = waiting.popleft()
                # Dask answers a key that it knows with its earlier result.
                future = client.submit(run_here, task, key=f"{task.name}-{uuid4().hex}")
                pending[future] = task, tries
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
                    attempt, seconds, message = future.result()
                    yield Ended(task, None if attempt is None else Path(attempt), seconds, message)
                # A program that fails is a result; what is lost here went with a worker.
                elif tries < TRIES:
                    waiting.append((task, tries + 1))
                else:
                    yield Ended(task, None, 0.0, _why(future))
    finally:
        client.cancel(list(pending))


def _why(future: Future[Any]) -> str:
    if future.status == "cancelled":
        return f"its workers were lost {TRIES} times"
    error = future.exception()
    return " ".join(f"{type(error).__name__}: {error}".split())
