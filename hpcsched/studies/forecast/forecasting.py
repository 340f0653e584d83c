"""Forecasts of the jobs that wait at an instant of a replay, and of a job that might come."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Params, PositiveDuration
from hpcsched.scenario.faults import sentence
from hpcsched.simulation.limits import Limits
from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.prepared_replay import PreparedReplay, submitted_until
from hpcsched.studies.forecast.start_forecast import SAMPLES, Ended, StartForecast, forecast_starts
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.trace_calendar import NO_DATES, Calendar

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class SupposedJob(Params):
    """A job that might be submitted.

    Attributes
    ----------
    units
        Number of units.
    time
        Requested time, in seconds.
    user
        Number of the user, whose earlier jobs tell how long it may run.
    resources
        Amounts of a unit by resource type; one of the system's first type by default.
    """

    units: int = Field(default=1, gt=0)
    time: PositiveDuration
    user: int | None = None
    resources: Mapping[str, int] = {}


class ForecastJob(NamedTuple):
    """Forecast of a job.

    Attributes
    ----------
    job_id
        Number of the job, or its name on a cluster; None for one that might be submitted.
    submit_time
        In seconds.
    units, requested_time
        Of the job; the time in seconds.
    starts
        Start time at each quantile, in seconds.
    """

    job_id: int | str | None
    submit_time: int
    units: int
    requested_time: int
    starts: tuple[int, ...]


class Forecast(NamedTuple):
    """Forecasts of the jobs that wait at an instant.

    Attributes
    ----------
    now
        The instant, in seconds: the last submission up to the time asked for.
    quantiles
        Shares, ascending.
    jobs
        Jobs in order of submission; last the one that might be submitted.
    running
        Number of running jobs.
    samples
        Number of futures.
    calendar
        Calendar of the trace, for dates in titles.
    """

    now: int
    quantiles: tuple[float, ...]
    jobs: tuple[ForecastJob, ...]
    running: int
    samples: int
    calendar: Calendar = NO_DATES


def supposed_job(text: Mapping[str, Any], system: System) -> SupposedJob:
    """Return a job that might be submitted, from a mapping as on the command line.

    Parameters
    ----------
    text
        `units`, `time`, `user`, and amounts of a unit by resource type.
    system
        The system, whose resource types may be asked for.

    Raises
    ------
    InputError
        A key or value is wrong, all of them at once.
    """
    own = {name: text[name] for name in ("units", "time", "user") if name in text}
    resources = {name: amount for name, amount in text.items() if name not in own}
    unknown = sorted(set(resources) - set(system.resource_types))
    findings = [
        Finding(
            "unknown-key",
            f"expected units, time, user or a resource type ({', '.join(system.resource_types)});"
            f" found {name!r}",
            key=f"--if.{name}",
        )
        for name in unknown
    ]
    try:
        job = SupposedJob.model_validate(
            {
                **own,
                "resources": {
                    name: amount for name, amount in resources.items() if name not in unknown
                },
            }
        )
    except ValidationError as error:
        findings += [
            Finding(
                "bad-value",
                sentence(one),
                key=".".join(map(str, ("--if", *one["loc"]))),
            )
            for one in error.errors()
        ]
        raise InputError(findings) from None
    if findings:
        raise InputError(findings)
    return job


def forecast(
    prepared: PreparedReplay,
    at: int,
    *,
    supposed: SupposedJob | None = None,
    quantiles: Sequence[float] = QUANTILES,
    samples: int = SAMPLES,
    seed: int = 0,
    ended: Ended = lambda _: None,
) -> Forecast:
    """Return the forecasts of the jobs that wait at a time.

    Parameters
    ----------
    prepared
        The scenario's replay.
    at
        The time, in seconds; the state is that of the last submission up to it, before its round.
    supposed
        A job that is submitted then as well.
    quantiles
        Shares, ascending, from 0 to 1.
    samples
        Number of futures.
    seed
        Seed of the randomness.
    ended
        Called with the number of futures so far, after each.

    Raises
    ------
    InputError
        No job is submitted up to that time, or the supposed job fits nowhere.
    """
    submitted = submitted_until(prepared.columns, at)
    if not submitted:
        first = int(prepared.columns.submit_time[0])
        message = f"no job is submitted up to {at} s; the first is at {first} s"
        raise InputError(Finding("too-early", message))
    past = prepared.past()
    ((_, branch, left),) = branches(prepared.parts, prepared.columns, [submitted])
    past.run_times.ended(left.tolist())
    waiting = np.sort(branch.present.sequence[branch.present.waits])
    also = None if supposed is None else _columns_of(supposed, prepared, branch.now)
    wanted = waiting if also is None else np.append(waiting, submitted)
    found = forecast_starts(
        branch, past, wanted, samples=samples, seed=seed, also=also, ended=ended
    )  # fmt: skip
    jobs = _jobs(prepared.columns, found, quantiles, also)
    running = int((branch.present.start_time >= 0).sum())
    return Forecast(branch.now, tuple(quantiles), jobs, running, samples, prepared.calendar)


def _jobs(
    columns: JobColumns,
    found: StartForecast,
    quantiles: Sequence[float],
    also: JobColumns | None,
) -> tuple[ForecastJob, ...]:
    starts = np.stack([found.quantile(share) for share in quantiles], axis=1)
    jobs = []
    for place, own in zip(found.sequence.tolist(), starts.tolist(), strict=True):
        supposed = also is not None and place == found.sequence[-1]
        source, row = (also, 0) if also is not None and supposed else (columns, place)
        jobs.append(
            ForecastJob(
                None if supposed else int(source.job_id[row]),
                int(source.submit_time[row]),
                int(source.units[row]),
                int(source.requested_time[row]),
                tuple(own),
            )
        )
    return tuple(jobs)


def _columns_of(supposed: SupposedJob, prepared: PreparedReplay, now: int) -> JobColumns:
    numbers = RequestNumbers()
    for one in prepared.columns.requests:
        numbers.of(one)
    number = int(prepared.columns.job_id.max(initial=0)) + 1
    job = job_supposed(supposed, number, now, prepared.parts.system, prepared.parts.partitions)
    # No start depends on the run time of a job that has not started, which nobody knows.
    (columns,) = columns_of([TracedJob(job, supposed.time)], numbers)
    return columns


def job_supposed(
    supposed: SupposedJob, number: int, now: int, system: System, partitions: Partitions
) -> Job:
    """Return a supposed job as one that is submitted.

    Parameters
    ----------
    supposed
        The job.
    number
        Its number.
    now
        Submit time, in seconds.
    system
        The system.
    partitions
        Partitions of the site, which may refuse it or bind it to some nodes.

    Raises
    ------
    InputError
        A partition refuses it, or it does not fit on the idle system.
    """
    amounts = dict(supposed.resources) or {system.resource_types[0]: 1}
    request = Request(
        units=supposed.units,
        unit_request=tuple(amounts.get(name, 0) for name in system.resource_types),
    )
    job = Job(number, now, request, supposed.time, supposed.user)
    if partitions:
        job, refused_by = Limits(partitions, system).admit(job)
        if refused_by is not None:
            raise InputError(Finding("refused", f"the job is refused: {refused_by}", key="--if"))
    if not units_that_fit(system, system.capacity.T, job.request).sum() >= job.units:
        message = "the job does not fit on the system, even if it is idle"
        raise InputError(Finding("too-large", message, key="--if"))
    return job
