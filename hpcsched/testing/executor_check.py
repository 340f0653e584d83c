"""Check of the protocol of executors, with tasks that sleep and tasks that fail."""

from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hpcsched.experiment.executors.attempt import RUN
from hpcsched.experiment.executors.executor import Ended, Executor, Task, result_fault
from hpcsched.experiment.executors.sample_program import TIMES
from hpcsched.plugins.product_check import product_fault
from hpcsched.testing.sample_replays import expect

PROGRAM = "hpcsched.experiment.executors.sample_program"
FAILURE = "this task fails"


def check_executor(make: Callable[[Path], Executor], *, seconds: float = 0.2) -> None:
    """Run small tasks, and check their results.

    Each task must be announced by `started` before its result, and give one result. One that fails
    must say why, and be no exception; one that ends well must leave its run in the folder of its
    attempt, which is its own. No more tasks may run at a time than allowed. When the results are
    closed early, no further task may begin.

    Parameters
    ----------
    seconds
        Real seconds that each task sleeps.

    Raises
    ------
    AssertionError
        If a result is wrong.
    """
    for limit in (1, 2, None):
        with TemporaryDirectory() as name:
            executor = make(Path(name))
            expect(product_fault(executor, "executor"))
            _check_all(executor, Path(name), limit, seconds)
    with TemporaryDirectory() as name:
        _check_closing(make(Path(name)), Path(name), seconds)
    with TemporaryDirectory() as name:
        found = list(make(Path(name)).run([], None, print))
        if found:
            raise AssertionError(f"expected no result without tasks, found {found!r}")


def _tasks(folder: Path, seconds: float) -> list[Task]:
    texts = [str(seconds), FAILURE, str(seconds), str(seconds)]
    return [Task(f"task-{k}", PROGRAM, text, (), folder) for k, text in enumerate(texts)]


def _check_all(executor: Executor, folder: Path, limit: int | None, seconds: float) -> None:
    tasks = _tasks(folder, seconds)
    begun: list[str] = []
    left = {task.name for task in tasks}
    attempts: set[Path] = set()
    times: list[tuple[float, float]] = []
    results: Any = executor.run(tasks, limit, lambda task: begun.append(task.name))
    for ended in results:
        expect(result_fault(ended, left))
        name = ended.task.name
        left.discard(name)
        if begun.count(name) != 1:
            raise AssertionError(
                f"{name}: expected one call of started before the result, found {begun.count(name)}"
            )
        if ended.attempt is not None:
            if ended.attempt in attempts:
                raise AssertionError(
                    f"{name}: expected an attempt of its own, found {ended.attempt}"
                )
            attempts.add(ended.attempt)
        times += _check_end(ended)
    if left:
        raise AssertionError(f"expected a result of each task, found none of {min(left)}")
    _check_limit(times, limit)


def _check_end(ended: Ended) -> list[tuple[float, float]]:
    """Check the end of a task; return its begin and end if it ended well."""
    name = ended.task.name
    if ended.task.scenario == FAILURE:
        if FAILURE not in ended.message:
            raise AssertionError(
                f"{name}: expected the message of its program, {FAILURE!r}, found {ended.message!r}"
            )
        return []
    if ended.message or ended.attempt is None:
        raise AssertionError(f"{name}: expected no message, found {ended.message!r}")
    path = ended.attempt / RUN / TIMES
    if not path.is_file():
        raise AssertionError(f"{name}: expected its run in {RUN!r} of its attempt, found none")
    began, end = map(float, path.read_text(encoding="utf-8").split())
    if ended.seconds < 0:
        raise AssertionError(f"{name}: expected seconds of at least 0, found {ended.seconds}")
    return [(began, end)]


def _check_limit(times: list[tuple[float, float]], limit: int | None) -> None:
    if limit == 1:
        for (_, end), (began, _) in pairwise(sorted(times)):
            if began < end:
                raise AssertionError("expected one task at a time, found two")
    elif limit is not None:
        for instant, _ in times:
            running = sum(1 for began, end in times if began <= instant < end)
            if running > limit:
                raise AssertionError(f"expected at most {limit} tasks at a time, found {running}")


def _check_closing(executor: Executor, folder: Path, seconds: float) -> None:
    tasks = _tasks(folder, seconds)
    begun: list[str] = []
    results: Any = executor.run(tasks, 1, lambda task: begun.append(task.name))
    if not hasattr(results, "close"):
        raise AssertionError(f"expected a generator, which can be closed, found {results!r}")
    with closing(results):
        next(results)
    if len(begun) == len(tasks):
        raise AssertionError("expected no task to begin after closing, found all begun")
