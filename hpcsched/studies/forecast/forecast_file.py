"""The file of a cluster's latest forecast, and what it tells of single jobs."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from hpcsched.errors import Finding, InputError
from hpcsched.runs.files import read_model

FORMAT = 1
"""Version of the file; readers refuse any other."""
MINUTE = 60
"""Least gain that is told, in seconds: times of day are told by the minute."""


class WaitingJobForecast(BaseModel):
    """Forecast of a job that waits on a cluster; times in seconds since 1970.

    Attributes
    ----------
    job
        The job as its workload manager calls it, such as `100340_12`.
    user, group
        Numbers; None if not known.
    requested_time
        In seconds.
    starts
        Start time at each quantile.
    gain
        How much sooner it starts with half of its time limit, in seconds; 0 where it would not, or
        starts soon as it is.
    """

    model_config = ConfigDict(frozen=True)

    job: str
    partition: str
    user: int | None
    group: int | None
    submit_time: int
    units: int
    requested_time: int
    starts: tuple[int, ...]
    gain: int = 0

    @property
    def middle(self) -> int:
        """Start time at the middle quantile."""
        return self.starts[len(self.starts) // 2]


class ForecastFile(BaseModel):
    """Forecasts of the jobs that wait on a cluster.

    Attributes
    ----------
    cluster
        Name of the scenario.
    time
        Instant of the forecast, in seconds since 1970.
    running, samples
        Numbers of running jobs and of sampled futures.
    quantiles
        Shares, ascending, from 0 to 1.
    """

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    cluster: str
    time: int
    running: int
    samples: int
    quantiles: tuple[float, ...]
    jobs: tuple[WaitingJobForecast, ...]


def forecast_schema(_registry: object) -> dict[str, Any]:
    """Return the schema of such files, which no plugin changes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hpcsched:forecast",
        **ForecastFile.model_json_schema(),
        "title": "hpcsched forecast",
    }


def read_forecast(path: Path) -> ForecastFile:
    """Return the forecast in a file; raises InputError if it cannot be read."""
    return read_model(path, ForecastFile, FORMAT)


def when_lines(found: ForecastFile, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each named job, by the clock of this machine, and one on the forecast.

    A name without the number of an array's task stands for all of its tasks.

    Raises
    ------
    InputError
        Some of the jobs do not wait.
    """
    unknown = [name for name in names if not any(_is(one, name) for one in found.jobs)]
    if unknown:
        message = (
            f"not among the {len(found.jobs)} jobs that waited at {made_at(found)}:"
            f" {', '.join(unknown)}"
        )
        raise InputError(Finding("unknown-job", message))
    for one in told_of(found):
        if any(_is(one.job, name) for name in names):
            text = f"{one.job.job}: between {one.first} and {one.last} ({interval(found):.0%}), in"
            text += f" the middle {one.middle}; before it: {one.ahead} jobs"
            text += "" if one.own is None else f", of which {one.own} of its group"
            text += f"; would start at {one.half} with half the time limit" if one.half else ""
            yield text
    yield f"as of {made_at(found)}, by {found.samples} sampled futures"


def _is(job: WaitingJobForecast, name: str) -> bool:
    return job.job == name or job.job.startswith(f"{name}_")


class Told(NamedTuple):
    """What a forecast tells of a job, with times of day by the clock of this machine.

    Attributes
    ----------
    first, middle, last
        Start at the lowest, middle and highest quantile.
    half
        Start with half of its time limit; empty if that is less than a minute sooner.
    ahead, own
        Number of jobs that start before it by their middle; those of its group, if it has one.
    """

    job: WaitingJobForecast
    first: str
    middle: str
    last: str
    half: str
    ahead: int
    own: int | None


def told_of(found: ForecastFile) -> Iterator[Told]:
    """Yield what a forecast tells of each job."""
    of_group: dict[int | None, list[int]] = defaultdict(list)
    everybody = sorted(one.middle for one in found.jobs)
    for one in sorted(found.jobs, key=lambda one: one.middle):
        of_group[one.group].append(one.middle)
    for one in found.jobs:
        first, middle, last = (
            _clock(second, found) for second in (one.starts[0], one.middle, one.starts[-1])
        )
        half = _clock(one.middle - one.gain, found) if one.gain >= MINUTE else ""
        own = None if one.group is None else bisect_left(of_group[one.group], one.middle)
        yield Told(one, first, middle, last, half, bisect_left(everybody, one.middle), own)


def interval(found: ForecastFile) -> float:
    """Return the share of futures between the first and the last quantile."""
    return found.quantiles[-1] - found.quantiles[0]


def made_at(found: ForecastFile) -> str:
    """Return the instant of a forecast by the clock of this machine."""
    return f"{datetime.fromtimestamp(found.time):%Y-%m-%d %H:%M}"


def _clock(second: int, found: ForecastFile) -> str:
    """Return a time of day, with the date if it is not that of the forecast."""
    time, at = (datetime.fromtimestamp(one) for one in (second, found.time))
    return f"{time:%H:%M}" if time.date() == at.date() else f"{time:%Y-%m-%d %H:%M}"
