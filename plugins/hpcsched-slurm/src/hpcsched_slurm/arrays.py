"""Arrays of jobs: tasks that wait under one number, and become jobs one by one."""

import re

from hpcsched.system.cluster import RefusedError

MOST_TASKS = 2**22
"""More than the tasks that Slurm lets an array have."""

_FIRST = 2**32
_KEY = re.compile(r"\d+(_\d+)?")
_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


def checked_key(key: str) -> str:
    """Return the number of a job or a task (`7_2`) as it is.

    Raises
    ------
    RefusedError
        If it is none; it must not reach a command or an address.
    """
    if not _KEY.fullmatch(key):
        raise RefusedError(f"{key!r} is no number of a job")
    return key


def first_array_number(array: int) -> int:
    """Return the number from which an array's tasks are counted, above all numbers of jobs.

    Slurm gives a task a job number of its own only when it leaves the array, so that number cannot
    stand for a task that waits.
    """
    return _FIRST + array * MOST_TASKS


def task_ranges(text: str) -> tuple[list[int], int | None]:
    """Return the tasks in a text such as `1-7:2,9%3`, and how many may run at a time.

    A text that Slurm has cut off (`...`) gives the tasks that it names in full. Raises ValueError
    where it is not of this form.
    """
    ranges, _, most = text.partition("%")
    parts = ranges.split(",")
    if parts[-1].endswith("..."):
        parts.pop()
    tasks: list[int] = []
    for part in parts:
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"expected tasks such as 1-7:2,9, found {text!r}")
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if max(last, first) >= MOST_TASKS:
            raise ValueError(f"expected numbers of tasks below {MOST_TASKS}, found {text!r}")
        tasks += range(first, last + 1, step)
    return tasks, int(most) if most.isdecimal() else None
