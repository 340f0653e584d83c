"""Bounds on the times of jobs: with them, sums over a whole trace are exact numbers.

A time may be at most 2³² s (136 years). Submit time, run times, requested times and think times of
all jobs up to a job may sum up to at most 2⁵³ s, which is 2²¹ jobs of the longest kind. So every
instant of a simulation is a whole number that a double holds exactly, and sums of thousands of them
are far from 2⁶³. Times that are larger come from a wrong unit or a damaged field, not from a job.
"""

from collections.abc import Iterator

from hpcsched.errors import Finding, InputError
from hpcsched.workload.job import TracedJob

LONGEST = 2**32
"""The largest submit, run, requested and think time of a job, in seconds."""

LARGEST_SUM = 2**53
"""The largest sum of the times of all jobs, in seconds."""


class TimeBounds:
    """A check of the times of one job after the other."""

    def __init__(self) -> None:
        self._sum = 0

    def check(self, traced: TracedJob) -> None:
        """Take note of a job's times; raises ValueError where one, or the sum, is too large."""
        job, run_time = traced
        # One comparison for nearly all jobs.
        if max(job.submit_time, run_time, job.requested_time, job.think_time) > LONGEST:
            raise ValueError(_first_too_long(traced))
        lasting = self._sum + max(run_time, job.requested_time) + job.think_time
        if job.submit_time + lasting > LARGEST_SUM:
            raise ValueError(
                f"expected the times of all jobs up to this one to sum up to at most {LARGEST_SUM}"
                f" s, found {job.submit_time + lasting}"
            )
        self._sum = lasting

    def hold(self, lasting: int, others: int) -> bool:
        """Say whether the sum stays within bounds, whatever times `others` further jobs have.

        `lasting` is what jobs add to the sum, of which no time is over `LONGEST`.
        """
        return self._sum + lasting + (2 * others + 1) * LONGEST <= LARGEST_SUM

    def add(self, lasting: int) -> None:
        """Take note of what jobs add to the sum, for which there is room (see `hold`)."""
        self._sum += lasting


def within_bounds(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Yield jobs whose times are checked; raises InputError that names the first at fault."""
    bounds = TimeBounds()
    for traced in jobs:
        try:
            bounds.check(traced)
        except ValueError as error:
            message = f"job {traced.job.job_id}: {error}"
            raise InputError(Finding("time-too-large", message, key="trace")) from None
        yield traced


def _first_too_long(traced: TracedJob) -> str:
    job, run_time = traced
    times = {
        "submit": job.submit_time,
        "run": run_time,
        "requested": job.requested_time,
        "think": job.think_time,
    }
    name = next(name for name, seconds in times.items() if seconds > LONGEST)
    return (
        f"expected a {name} time of at most {LONGEST} s (136 years), found {times[name]};"
        " is it in seconds?"
    )
