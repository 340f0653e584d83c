"""The file of a cluster's latest forecast, and what it tells of single jobs and to monitoring."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hpcsched.errors import Finding, InputError
from hpcsched.runs.files import read_model, write_json
from hpcsched.whole_files import write_text

FORMAT = 1
"""Version of the file; readers refuse any other."""


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


def publish(found: ForecastFile, file: Path, metrics: Path | None = None) -> None:
    """Write a forecast, and its metrics if wanted; readers see the old files or the new ones."""
    write_json(file, found.model_dump(mode="json"))
    if metrics is not None:
        write_text(metrics, prometheus_text(found))


def when_lines(found: ForecastFile, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each named job, by the clock of this machine, and one on the forecast.

    A name without the number of an array's task stands for all of its tasks.

    Raises
    ------
    InputError
        Some of the jobs do not wait.
    """
    at = datetime.fromtimestamp(found.time)
    unknown = [name for name in names if not any(_is(one, name) for one in found.jobs)]
    if unknown:
        message = (
            f"not among the {len(found.jobs)} jobs that waited at {at:%Y-%m-%d %H:%M}:"
            f" {', '.join(unknown)}"
        )
        raise InputError(Finding("unknown-job", message))
    for one in found.jobs:
        if any(_is(one, name) for name in names):
            yield _line(one, found, at)
    yield f"as of {at:%Y-%m-%d %H:%M}, by {found.samples} sampled futures"


def _is(job: WaitingJobForecast, name: str) -> bool:
    return job.job == name or job.job.startswith(f"{name}_")


def _line(job: WaitingJobForecast, found: ForecastFile, at: datetime) -> str:
    first, last = job.starts[0], job.starts[-1]
    share = found.quantiles[-1] - found.quantiles[0]
    middle = _middle(job)
    ahead = [one for one in found.jobs if one is not job and _middle(one) < middle]
    text = f"{job.job}: between {_clock(first, at)} and {_clock(last, at)} ({share:.0%})"
    text += f", in the middle {_clock(middle, at)}; before it: {len(ahead)} jobs"
    if job.group is not None:
        own = sum(one.group == job.group for one in ahead)
        text += f", of which {own} of its group"
    return text


def _middle(job: WaitingJobForecast) -> int:
    return job.starts[len(job.starts) // 2]


def _clock(second: int, at: datetime) -> str:
    """Return a time of day, with the date if it is not that of the forecast."""
    time = datetime.fromtimestamp(second)
    return f"{time:%H:%M}" if time.date() == at.date() else f"{time:%Y-%m-%d %H:%M}"


def prometheus_text(found: ForecastFile) -> str:
    """Return a forecast as metrics in the text format of Prometheus.

    Jobs come and go, and so do not make good labels: metrics are by partition.
    """
    rows = sorted((_label(one.partition), max(_middle(one) - found.time, 0)) for one in found.jobs)
    waits = {name: [wait for _, wait in own] for name, own in groupby(rows, key=lambda row: row[0])}
    metrics: list[tuple[str, str, Iterable[tuple[str, float]]]] = [
        ("forecast_time_seconds", "Instant of the forecast, since 1970.", [("", found.time)]),
        ("running_jobs", "Jobs that run.", [("", found.running)]),
        (
            "waiting_jobs",
            "Jobs that wait and are forecast.",
            [(f'{{partition="{name}"}}', len(own)) for name, own in waits.items()],
        ),
        (
            "forecast_wait_seconds",
            "Time until the forecast start of waiting jobs: quantiles over the jobs.",
            [
                (f'{{partition="{name}",quantile="{share}"}}', own[int(share * (len(own) - 1))])
                for name, own in waits.items()
                for share in (0, 0.5, 1)
            ],
        ),
    ]
    lines = []
    for name, text, values in metrics:
        lines += [f"# HELP hpcsched_{name} {text}", f"# TYPE hpcsched_{name} gauge"]
        lines += [f"hpcsched_{name}{labels} {value}" for labels, value in values]
    return "\n".join([*lines, ""])


def _label(text: str) -> str:
    """Return the value of a label, escaped as Prometheus reads it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
