"""Metrics of jobs by classes of run time, such as short, medium and long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hpcsched.metrics.metric_tables import Column, Table
from hpcsched.metrics.slowdown import mean_bounded_slowdown, mean_slowdown
from hpcsched.metrics.times import mean_response_time, mean_wait_time

NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}
"""Names of classes, by their number; more than three are numbered."""


@dataclass(frozen=True, slots=True)
class RunTimeClass:
    """Jobs of a table with a run time from `least` to `most` seconds; None: no bound."""

    jobs: Table
    least: int
    most: int | None

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns of the jobs of this class."""
        for run_time, *batch in self.jobs.batches("run_time", *columns):
            keep = run_time >= self.least
            if self.most is not None:
                keep &= run_time <= self.most
            yield tuple(column[keep] for column in batch)


def class_values(
    jobs: Table, bounds: Sequence[int], tau: int
) -> list[dict[str, str | float | None]]:
    """Return the number of jobs and the means of each run-time class.

    With bounds of 1 h and 5 h jobs are short below 1 h, medium from 1 h to 5 h, and long above 5 h
    (Galleguillos, thesis 2020, section 2.1).

    Parameters
    ----------
    jobs
        Jobs that ran.
    bounds
        Ascending run times in seconds. The first class is below the first bound, the last above the
        last; any other includes its upper bound.
    tau
        Threshold of the bounded slowdown, in seconds.

    Returns
    -------
    list
        For each class `run_time_from` and `run_time_to`, both included, and means: wait and
        response times in seconds, slowdowns as ratios; None without jobs.
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
        most = bound if k else bound - 1
        ranges.append((least, most))
        least = most + 1
    return [*ranges, (least, None)]
