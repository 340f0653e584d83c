"""Metrics by run-time class, such as short, medium and long jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hpcsched.metrics.metric_tables import Column, Table
from hpcsched.metrics.response_times import mean_response_time, mean_wait_time
from hpcsched.metrics.slowdown import mean_bounded_slowdown, mean_slowdown

NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}
"""Names of the classes by their number; more than three classes are numbered."""


@dataclass(frozen=True, slots=True)
class RunTimeClass:
    """Jobs of a table with a run time from `least` to `most`, both included.

    Attributes
    ----------
    least
        Smallest run time, in seconds.
    most
        Largest run time, in seconds; None: no bound.
    """

    jobs: Table
    least: int
    most: int | None

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns of the jobs of this class, batch by batch."""
        for run_time, *batch in self.jobs.batches("run_time", *columns):
            keep = run_time >= self.least
            if self.most is not None:
                keep &= run_time <= self.most
            yield tuple(column[keep] for column in batch)


def class_values(
    jobs: Table, bounds: Sequence[int], tau: int
) -> list[dict[str, str | float | None]]:
    """Return the number of jobs and the means of each class of jobs that ran.

    With bounds of 1 h and 5 h jobs are short below 1 h, medium from 1 h to 5 h, and long above 5 h
    (Galleguillos, thesis 2020, section 2.1).

    Parameters
    ----------
    bounds
        Ascending run times, in seconds. Jobs below the first are in the first class, jobs above the
        last in the last; any other class includes its upper bound.
    tau
        Lower bound of run times in the bounded slowdown, in seconds.

    Returns
    -------
    list
        A mapping for each class. `run_time_from` and `run_time_to` are its bounds, both included.
        Wait and response times are in seconds, slowdowns are ratios; means are None where a class
        has no job.
    """
    values: list[dict[str, str | float | None]] = []
    ranges = _ranges(bounds)
    names = NAMES.get(len(ranges)) or [f"class {k}" for k in range(1, len(ranges) + 1)]
    for name, (least, most) in zip(names, ranges, strict=True):
        members = RunTimeClass(jobs, least, most)
        values.append(
            {
                "class": name,
                "run_time_from": least,
                "run_time_to": most,
                "jobs": sum(len(run_time) for (run_time,) in members.batches("run_time")),
                "mean_wait_time": mean_wait_time(members),
                "mean_response_time": mean_response_time(members),
                "mean_slowdown": mean_slowdown(members),
                "mean_bounded_slowdown": mean_bounded_slowdown(members, tau),
            }
        )
    return values


def _ranges(bounds: Sequence[int]) -> list[tuple[int, int | None]]:
    ranges: list[tuple[int, int | None]] = []
    least = 0
    for k, bound in enumerate(bounds):
        # The first class ends before its bound (short: below 1 h), the others include it.
        most = bound if k else bound - 1
        ranges.append((least, most))
        least = most + 1
    return [*ranges, (least, None)]
