"""What is free in each second from 0 on, and the earliest start of a job in it.

A table of lists: `free[t][n]` is what is free on node `n` in second `t`, an amount for each
resource type. Nothing is free after the last second.
"""

from collections.abc import Sequence
from typing import NamedTuple

Seconds = list[list[list[int]]]
Placed = Sequence[int]
"""Units on each node."""


class Job(NamedTuple):
    """Units, what each asks for, how many fit on each idle node, a run time and a release."""

    units: int
    asked: Sequence[int]
    on_idle: Sequence[int]
    run_time: int
    release: int = 0


def seconds(capacity: Sequence[Sequence[int]], length: int) -> Seconds:
    """Return so many seconds in which all is free."""
    return [[list(map(int, row)) for row in capacity] for _ in range(length)]


def take(free: Seconds, placed: Placed, asked: Sequence[int], begin: int, end: int) -> None:
    """Take the units of a job from `begin` to before `end`."""
    for time in range(begin, min(end, len(free))):
        for n, units in enumerate(placed):
            for r, amount in enumerate(asked):
                free[time][n][r] -= int(units) * int(amount)


def units_on(free: Seconds, job: Job, begin: int) -> list[int]:
    """Return how many units of a job that starts then fit on each node until it ends."""
    found = []
    for n, most in enumerate(job.on_idle):
        fits = int(most)
        for time in range(begin, begin + job.run_time):
            for r, amount in enumerate(job.asked):
                if amount:
                    fits = min(fits, max(free[time][n][r], 0) // int(amount))
        found.append(fits)
    return found


def earliest(free: Seconds, job: Job) -> int | None:
    """Return the first second from the release on at which a job fits; None if there is none."""
    for begin in range(job.release, len(free) - job.run_time + 1):
        if sum(units_on(free, job, begin)) >= job.units:
            return begin
    return None
