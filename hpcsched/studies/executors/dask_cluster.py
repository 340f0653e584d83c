"""Executor `dask`: tasks run by the workers of a Dask cluster, which share the files."""

import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from uuid import uuid4

import dask
from distributed import Adaptive, Client, Future, LocalCluster, get_worker, wait
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

PER_THREAD = 1.5
"""Number of tasks at a time for each thread: the next one is there when one ends."""

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
            queue = self._params.jobqueue
            threads = 1 if queue is None else queue.jobs * queue.cores
            yield from _results(client, tasks, limit, started, threads)

    def _cluster(self, stack: ExitStack, limit: int | None) -> Any:
        params = self._params
        if params.address is not None:
            return params.address
        if params.jobqueue is not None:
            cluster = stack.enter_context(make_jobqueue(params.jobqueue))
            adapt(cluster, params.jobqueue)
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

    # Threads only wait for programs, so one worker process a job is enough.
    own = {
        "processes": 1,
        "scheduler_options": {"dashboard_address": ":0"},  # any port that is free
        "worker_extra_args": _lifetime(params),
    }
    try:
        cluster = getattr(dask_jobqueue, f"{params.cluster.upper()}Cluster")
        return cluster(cores=params.cores, **{**own, **params.options})
    except (TypeError, ValueError) as error:
        raise PluginError(f"executor dask: dask-jobqueue refuses 'jobqueue': {error}") from error


def _lifetime(params: JobQueue) -> list[str]:
    """Return the options of workers that end by themselves before their batch job is killed."""
    limit = params.options.get("walltime", dask.config.get(f"jobqueue.{params.cluster}.walltime"))
    # LSF knows no seconds.
    text = f"{limit}{':00' * (params.cluster == 'lsf')}"
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text)
    if match is None:
        return []
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    most = ((24 * days + hours) * 60 + minutes) * 60 + seconds
    # Not all at the same time: jobs that take their place need not wait for each other.
    return ["--lifetime", f"{0.9 * most:.0f}s", "--lifetime-stagger", f"{0.06 * most:.0f}s"]


def adapt(cluster: Any, params: JobQueue) -> None:
    """Let a cluster have as many jobs as there are tasks for, and new ones for those that end."""

    class Scaling(Adaptive):
        """Number of workers, one for each job."""

        async def safe_target(self) -> int:
            """Return the number within the limits, some more than have begun."""
            return min(await super().safe_target(), len(self.observed) + params.most_queued)

    cluster.adapt(
        Adaptive=Scaling,
        minimum=params.least_jobs,
        maximum=params.jobs,
        target_duration="1s",  # a cell takes about as long to start
    )


def _results(
    client: Client,
    tasks: Sequence[Task],
    limit: int | None,
    started: Callable[[Task], None],
    threads: int,
) -> Iterator[Ended]:
    """Yield the results of tasks; those that are lost with their worker are submitted again.

    Parameters
    ----------
    threads
        Least number of threads to keep tasks for: there are more jobs only if tasks wait.
    """
    waiting = deque((task, 1) for task in tasks)
    pending: dict[Future[Any], tuple[Task, int]] = {}
    try:
        while waiting or pending:
            # Looked at each time: workers of a batch system come and go while tasks run.
            room = ceil(PER_THREAD * max(threads, sum(client.nthreads().values())))
            while waiting and len(pending) < min(room, limit or room):
                task, tries = waiting.popleft()
                # Dask answers a key that it knows with its earlier result. By what is before the
                # hyphen it learns how long tasks take.
                future = client.submit(run_here, task, key=f"cell-{uuid4().hex}")
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
