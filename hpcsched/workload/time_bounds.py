"""Bounds on the times of jobs, which make sums over a whole trace exact.

A time may be at most 2³² s (136 years). Submit time, run times, requested times and think times of
all jobs up to a job may sum up to at most 2⁵³ s, which is 2²¹ jobs of the longest kind. So every
instant of a simulation is a whole number that a double holds exactly, and sums of thousands of them
are far from 2⁶³. Larger times come from a wrong unit or a damaged field, not from a job.
"""

from collections.abc import Iterator

from hpcsched.errors import Finding, InputError
from hpcsched.workload.job import TracedJob

LONGEST = 2**32
"""Maximum submit, run, requested and think time of a job, in seconds."""

LARGEST_SUM = 2**53
"""Maximum sum of the times of all jobs, in seconds."""


class TimeBounds:
    """Check of the times of one job after the other."""

    def __init__(self) -> None:
        self._sum = 0

    def check(self, traced: TracedJob) -> None:
        """Add a job's times to the sum.

        Raises
        ------
        ValueError
            If a time or the sum is too large.
        """
        job, run_time = traced
        times = job.submit_time, run_time, job.requested_time, job.think_time
        fault = time_fault(*times, self._sum)
        if fault is not None:
            raise ValueError(fault)
        self._sum += max(run_time, job.requested_time) + job.think_time


def within_bounds(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Yield jobs after a check of their times.

    Raises
    ------
    InputError
        If a time is too large; the message names the job.
    """
    bounds = TimeBounds()
    for traced in jobs:
        try:
            bounds.check(traced)
        except ValueError as error:
            message = f"job {traced.job.job_id}: {error}"
            raise InputError(Finding("time-too-large", message, key="trace")) from None
        yield traced


def time_fault(
    submit_time: int, run_time: int, requested_time: int, think_time: int, before: int
) -> str | None:
    """Return which time of a job is too large, or their sum; None if none is.

    Parameters
    ----------
    submit_time, run_time, requested_time, think_time
        Times of the job, in seconds.
    """
    # One comparison for nearly all jobs.
    if max(submit_time, run_time, requested_time, think_time) > LONGEST:
        times = {
            "submit": submit_time,
            "run": run_time,
            "requested": requested_time,
            "think": think_time,
        }
        name = next(name for name, seconds in times.items() if seconds > LONGEST)
        return (
            f"expected a {name} time of at most {LONGEST} s (136 years), found {times[name]};"
            " is it in seconds?"
        )
    # In a queue without a pause, a job ends at most at its submission plus the sum of all work.
    lasting = submit_time + before + max(run_time, requested_time) + think_time
    if lasting > LARGEST_SUM:
        return (
            f"expected the times of all jobs up to this one to sum up to at most {LARGEST_SUM}"
            f" s, found {lasting}"
        )
    return None
