"""Executor `local`: a process for each task, several at a time."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from time import perf_counter

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.registration import builtin
from hpcsched.studies.experiment.executors.attempt import carry_out, new_attempt
from hpcsched.studies.experiment.executors.executor import Ended, Task


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
        """Run tasks; see `hpcsched.studies.experiment.executors.executor.Executor`."""
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
