"""`check_executor` accepts an executor that is right, and finds each mistake of others."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import pytest

from hpcsched.studies.executors.executor import RUN, Ended, carry_out, new_attempt
from hpcsched.testing import check_executor


class OneByOne:
    """Runs one task after the other, with a mistake."""

    def __init__(self, mistake: str = "none") -> None:
        self._mistake = mistake

    def run(self, tasks, limit, started):
        """Yield the result of each task, with the mistake."""
        if self._mistake == "list":
            return list(self._each(tasks, started))
        if self._mistake == "all at once":
            return self._at_once(tasks, started)
        return self._each(tasks, started)

    def _each(self, tasks, started):
        if self._mistake == "ahead":
            for task in tasks:
                started(task)
        for task in tasks:
            if self._mistake not in ("ahead", "silent"):
                started(task)
            ended = self._ended(task)
            if self._mistake == "lost" and task.name == "task-2":
                continue
            yield ended
            if self._mistake == "twice":
                yield ended

    def _at_once(self, tasks, started):
        for task in tasks:
            started(task)
        with ThreadPoolExecutor() as pool:
            yield from pool.map(self._ended, tasks)

    def _ended(self, task):
        began = perf_counter()
        attempt = new_attempt(task.folder, task.name)
        message = carry_out(task.program, task.scenario, attempt)
        if self._mistake == "type":
            return task.name
        if self._mistake == "message" and message:
            message = "it failed"
        if self._mistake == "no attempt":
            return Ended(task, None, 0.0, message)
        if self._mistake == "no run":
            shutil.rmtree(attempt / RUN, ignore_errors=True)
        if self._mistake == "raises" and message:
            raise RuntimeError(message)
        return Ended(task, attempt, perf_counter() - began, message)


def test_right() -> None:
    """One task after the other is right within every limit."""
    check_executor(lambda _folder: OneByOne(), seconds=0.01)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", "expected an Ended with its Task, found 'task-0'"),
        ("message", "task-1: expected the message of its program, 'this task fails', found"),
        ("no attempt", "expected the attempt of task-0, which ended well, found None"),
        ("no run", "task-0: expected its run in 'run' of its attempt, found none"),
        ("lost", "expected a result of each task, found none of task-2"),
        ("twice", "expected one result of each task, found another of task-0"),
        ("silent", "task-0: expected one call of started before the result, found 0"),
        ("all at once", "expected at most 1 tasks at a time, found [2-4]"),
        ("list", "expected a generator, which can be closed, found"),
        ("ahead", "expected no task to begin after closing, found all begun"),
    ],
)
def test_wrong(mistake: str, message: str) -> None:
    """Each mistake is named."""
    seconds = 0.5 if mistake == "all at once" else 0.01
    with pytest.raises(AssertionError, match=message):
        check_executor(lambda _folder: OneByOne(mistake), seconds=seconds)


def test_task_that_fails() -> None:
    """It must be no exception."""
    with pytest.raises(RuntimeError, match="this task fails"):
        check_executor(lambda _folder: OneByOne("raises"), seconds=0.01)
