"""Forecasts of start times at an instant: many futures, each replayed with the same dispatcher."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, ValidationError

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.parameters import Params, PositiveDuration
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.report.tables.report_table import Table, duration_text
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.replaying import Workload, read_workload
from hpcsched.scenario import Scenario
from hpcsched.scenario.faults import sentence
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_branches import LaterJobs, ReplayBranch, branches
from hpcsched.simulation.replay_limits import ReplayLimits
from hpcsched.system.space import idle_room
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import (
    JobColumns,
    RequestNumbers,
    columns_of,
    joined_columns,
)
from hpcsched.workload.trace_calendar import NO_DATES, Calendar, calendar_of

OWN, OTHERS = 40, 400
"""Numbers of recent jobs that are remembered: of each user and requested time, and of all users."""
NOVELTY = 16.0
"""Number of jobs whose run times weigh as much as those of the next wider source."""
ALIKE = 0.8
"""Probability that a job's rank is the one that its user's jobs share."""
COMMON = 0.3
"""Probability that a user's rank is the one that such users share. As `NOVELTY` and the number of
lags, it was chosen on KTH-SP2 and CTC-SP2, `ALIKE` on KTH-SP2."""
NOBODY = -1
"""User of jobs without one."""


def users_of(columns: JobColumns) -> IntArray:
    """Return the user of each job, `[J]`; `NOBODY` where none is known."""
    users = pc.fill_null(columns.details.column("user"), NOBODY)
    return np.asarray(users.to_numpy(zero_copy_only=False), dtype=np.int64)


class RunTimeHistory:
    """Shares of the requested time that recent jobs took, by user.

    Notes
    -----
    A job takes what one of the n recent jobs of its user with its requested time took, with
    probability n / (n + `NOVELTY`). Else it takes what one of the user's jobs took, with such a
    probability of their number, else what anybody's job took: the urn of Blackwell and MacQueen
    (1973), with the wider source as its base.
    """

    def __init__(self, columns: JobColumns) -> None:
        users, requested = users_of(columns), np.maximum(columns.requested_time, 1)
        self._jobs = list(zip(users.tolist(), requested.tolist(), strict=True))
        self._shares: list[float] = (columns.run_time / requested).tolist()
        self._recent: dict[tuple[int, ...], deque[float]] = {}

    def ended(self, sequence: Iterable[int]) -> None:
        """Note jobs that have ended, in order, by their places among all jobs."""
        for place in sequence:
            for source in _sources(*self._jobs[place]):
                most = OWN if source else OTHERS
                self._recent.setdefault(source, deque(maxlen=most)).append(self._shares[place])

    def run_times(
        self,
        present: Sequence[tuple[int, int]],
        elapsed: Sequence[int],
        samples: int,
        draw: np.random.Generator,
    ) -> IntArray:
        """Return sampled run times.

        Parameters
        ----------
        present
            User and requested time in seconds of each job, `[J]`.
        elapsed
            Seconds for which each job runs already, `[J]`; 0 for a job that waits.

        Returns
        -------
        IntArray
            Run times, `[S, J]`, in seconds, each longer than the job runs already.
        """
        found = np.empty((samples, len(present)), dtype=np.int64)
        ranks = _ranks([user for user, _ in present], samples, draw)
        known = {job: self._distribution(*job) for job in set(present)}
        for number, (job, ran) in enumerate(zip(present, elapsed, strict=True)):
            requested = job[1]
            shares, weights = known[job]
            least = ran / requested
            if ran:
                beyond = int(np.searchsorted(shares, least, side="right"))
                shares, weights = shares[beyond:], weights[beyond:]
            if len(shares):
                reached = np.cumsum(weights)
                drawn = shares[np.searchsorted(reached[:-1], ranks[:, number] * reached[-1])]
            else:
                # Nobody's job ran for so long: any remaining time is as likely.
                drawn = least + (1 - least) * ranks[:, number]
            found[:, number] = np.maximum(np.rint(drawn * requested), ran + 1)
        return found

    def _distribution(self, user: int, requested: int) -> tuple[FloatColumn, FloatColumn]:
        """Return ascending shares of the requested time that a job may take, and their weights."""
        shares: list[float] = []
        weights: list[float] = []
        left = 1.0
        for source in _sources(user, requested):
            recent = self._recent.get(source, ())
            own = left * len(recent) / (len(recent) + NOVELTY) if source else left
            shares += recent
            weights += [own / len(recent)] * len(recent) if recent else []
            left -= own
        order = np.argsort(shares, kind="stable")
        return np.array(shares)[order], np.array(weights)[order]


def _sources(user: int, requested: int) -> tuple[tuple[int, ...], ...]:
    """Return the keys of those whose run times tell of a job's, the closest first."""
    return (user, requested), (user,), ()


def _ranks(users: Sequence[int], samples: int, draw: np.random.Generator) -> FloatColumn:
    """Return the ranks of run times in their distributions, `[S, J]`, from 0 to below 1.

    With probability `ALIKE` a job has the rank that its user's jobs share in a sample: jobs of a
    user run the same program, and intervals would be too narrow if they were independent. Of these
    ranks some are common to users, who may have the same deadline, or the same slow disks.
    """
    known, of_user = np.unique(np.array(users, dtype=np.int64), return_inverse=True)
    shared = draw.random((samples, len(known)))
    common = draw.random((samples, 1))
    shared = np.where(draw.random(shared.shape) < COMMON, common, shared)[:, of_user]
    own = draw.random((samples, len(users)))
    return np.where(draw.random(own.shape) < ALIKE, shared, own)


DAY = 86_400
WEEK = 7 * DAY
MOST_WEEKS = 8
"""Number of weeks from which samples are taken."""
MOST_LAGS = 8
"""Number of times by which the past is moved."""
HORIZON = MOST_WEEKS * WEEK
"""Time for which later jobs are sampled; jobs that wait longer find an emptying system."""
AT_FIRST, AT_MOST = 8, 256
"""Numbers of jobs in the first batch and in the largest; each is twice as large as the one before.

A future ends at a batch once all jobs that are forecast have started. Most start soon, and rounds
that Python decides take long.
"""


class ArrivalHistory:
    """Jobs that were submitted before, which are moved to later times."""

    def __init__(self, columns: JobColumns) -> None:
        self._columns = columns
        self.users = users_of(columns)
        self._first_number = int(columns.job_id.max(initial=0)) + 2

    def lags(self, submitted: int, now: int) -> IntArray:
        """Return the times by which the past is moved at an instant, in seconds.

        They are whole weeks, then further days, since two weeks alone are too alike; the latest
        ones first. On the first day it is the whole past.
        """
        if not submitted:
            return np.empty(0, dtype=np.int64)
        known = now - int(self._columns.submit_time[0])
        days = np.arange(1, min(known // DAY, 7 * MOST_WEEKS) + 1)
        found: IntArray = DAY * days[np.argsort(days % 7 > 0, kind="stable")][:MOST_LAGS]
        return found if len(found) else np.array([max(known, 1)])

    def later(self, submitted: int, now: int, lag: int | None) -> Iterator[JobColumns]:
        """Yield jobs after an instant, as they were submitted `lag` seconds before, repeatedly.

        None as the lag: nothing is submitted.
        """
        if lag is None:
            return
        first = int(np.searchsorted(self._columns.submit_time, now - lag, side="right"))
        moved, number, size = lag, self._first_number, AT_FIRST
        while first < submitted and moved <= HORIZON:
            begin = first
            while begin < submitted:
                rows = np.arange(begin, min(begin + size, submitted))
                yield self._moved(rows, moved, number)
                number, begin = number + len(rows), begin + len(rows)
                size = min(2 * size, AT_MOST)
            moved += lag

    def _moved(self, rows: IntArray, seconds: int, first_number: int) -> JobColumns:
        columns = self._columns.take(rows)
        place = columns.details.schema.get_field_index("after")
        # The jobs that they waited for are not submitted again.
        nothing = pa.nulls(len(rows), columns.details.schema.field(place).type)
        return columns._replace(
            job_id=np.arange(first_number, first_number + len(rows)),
            submit_time=columns.submit_time + seconds,
            details=columns.details.set_column(place, "after", nothing),
        )


SAMPLES = 100

Ended = Callable[[int], None]
"""Function that is given the number of futures that have ended."""


class Past(NamedTuple):
    """Knowledge at an instant: run times of ended jobs, and earlier submissions."""

    run_times: RunTimeHistory
    arrivals: ArrivalHistory


class StartForecast(NamedTuple):
    """Sampled start times of the jobs that wait at an instant.

    Attributes
    ----------
    now
        The instant, in seconds.
    sequence
        Places of the jobs among all submitted, ascending, `[W]`.
    samples
        Start times, `[S, W]`, in seconds, each column ascending.
    """

    now: int
    sequence: IntArray
    samples: IntArray

    def quantile(self, share: float) -> IntArray:
        """Return the times that a share of the samples do not exceed, by nearest rank, `[W]`."""
        count = len(self.samples)
        rank = min(max(int(np.ceil(share * count)), 1), count)
        found: IntArray = self.samples[rank - 1]
        return found


def forecast_starts(
    branch: ReplayBranch,
    past: Past,
    wanted: IntArray,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    also: JobColumns | None = None,
    ended: Ended = lambda _: None,
) -> StartForecast:
    """Return the forecast at an instant of jobs by their places among all submitted, `[W]`."""
    draw = np.random.default_rng([seed, branch.submitted])
    run_times = sampled_run_times(branch, past, samples, draw)
    lags = past.arrivals.lags(branch.submitted, branch.now)
    lag_of = sampled_lags(lags, samples, draw)
    now_too = () if also is None else (also,)
    of_lag = {
        lag: LaterJobs(chain(now_too, past.arrivals.later(branch.submitted, branch.now, lag)))
        for lag in set(lag_of)
    }
    later = [of_lag[lag] for lag in lag_of]
    starts = future_starts(branch, run_times, later, wanted, ended)
    return StartForecast(branch.now, wanted, np.sort(starts, axis=0))


def sampled_lags(lags: IntArray, samples: int, draw: np.random.Generator) -> list[int | None]:
    """Return the time by which the past is moved in each future, in seconds; None without any."""
    if not len(lags):
        return [None] * samples
    return [int(lags[draw.integers(len(lags))]) for _ in range(samples)]


def future_starts(
    branch: ReplayBranch,
    run_times: IntArray,
    later: Sequence[LaterJobs],
    wanted: IntArray,
    ended: Ended,
) -> IntArray:
    """Return the start times of jobs in sampled futures, `[S, W]`, in seconds.

    Parameters
    ----------
    run_times
        Run times of the present jobs in each future, `[S, J]`, in seconds.
    later
        Later jobs of each future, `[S]`.
    wanted
        Places of jobs among all submitted, ascending, `[W]`.
    """
    starts = branch.start_times(run_times, later, wanted, ended)
    if (starts < 0).any():
        message = (
            f"the dispatcher {branch.dispatcher_name} cannot be forecast: there is a future in"
            " which it never starts a job that waits, such as one that it refuses"
        )
        raise InputError(Finding("never-started", message, key="dispatcher"))
    return starts


def sampled_run_times(
    branch: ReplayBranch, past: Past, samples: int, draw: np.random.Generator
) -> IntArray:
    """Return sampled run times of the present jobs, `[S, J]`, in seconds."""
    present = branch.present
    elapsed = np.where(present.start_time < 0, 0, branch.now - present.start_time)
    users = past.arrivals.users[present.sequence]
    requested = np.maximum(present.requested_time, 1)
    jobs = list(zip(users.tolist(), requested.tolist(), strict=True))
    return past.run_times.run_times(jobs, elapsed.tolist(), samples, draw)


class PreparedReplay(NamedTuple):
    """Parts and jobs of a replay.

    Attributes
    ----------
    columns
        The jobs as one batch; those that partitions refuse are marked.
    """

    scenario: Scenario
    workload: Workload
    parts: Parts
    columns: JobColumns

    @property
    def first_submit_time(self) -> int:
        """First submit time, in seconds."""
        return int(self.columns.submit_time[0])

    @property
    def calendar(self) -> Calendar:
        """Calendar of the trace."""
        return calendar_of(self.workload.comments, self.first_submit_time)

    def past(self) -> Past:
        """Return the knowledge before the first end of a job."""
        return Past(RunTimeHistory(self.columns), ArrivalHistory(self.columns))


def prepare(scenario: Scenario) -> PreparedReplay:
    """Read a scenario's trace and build the parts of its simulation."""
    if scenario.simulation.mode == "offline":
        message = "forecasts are about on-line dispatching; this scenario has 'mode: offline'"
        raise InputError(Finding("not-on-line", message, key="simulation.mode"))
    name = scenario.dispatcher.plugin_name
    if FOLLOWS_RECORD in manager.registry().get("dispatcher", name).plugin.capabilities:
        message = (
            f"the dispatcher {name} cannot be forecast: it repeats the log's own starts, which"
            " sampled jobs do not have"
        )
        raise InputError(Finding("not-forecast", message, key="dispatcher"))
    scenario = scenario.model_copy(update={"observers": ()})
    workload = read_workload(scenario)
    parts = parts_of(assemble(scenario).build_all(), ())
    columns = tuple(admitted(workload.columns, parts))
    if not columns:
        raise InputError(Finding("no-jobs", "the trace has no job to forecast", key="trace"))
    return PreparedReplay(scenario, workload, parts, joined_columns(columns))


def submitted_until(columns: JobColumns, time: int) -> int:
    """Return the number of jobs that are submitted up to a time, in seconds."""
    return int(np.searchsorted(columns.submit_time, time, side="right"))


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class SupposedJob(Params):
    """A job that might be submitted.

    Attributes
    ----------
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
    """
    own = {name: value for name, value in text.items() if name in ("units", "time", "user")}
    resources = {name: amount for name, amount in text.items() if name not in own}
    types = ", ".join(system.resource_types)
    findings = [
        Finding(
            "unknown-key",
            f"expected units, time, user or a resource type ({types}); found {name!r}",
            key=f"--if.{name}",
        )
        for name in sorted(set(resources) - set(system.resource_types))
    ]
    try:
        job = SupposedJob.model_validate({**own, "resources": resources})
    except ValidationError as error:
        findings += [
            Finding("bad-value", sentence(one), key=".".join(map(str, ("--if", *one["loc"]))))
            for one in error.errors()
        ]
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
    at
        The time, in seconds; the state is that of the last submission up to it, before its round.
    quantiles
        Shares, ascending, from 0 to 1.
    """
    submitted = submitted_until(prepared.columns, at)
    if not submitted:
        first = int(prepared.columns.submit_time[0])
        message = f"no job is submitted up to {at} s; the first is at {first} s"
        raise InputError(Finding("too-early", message))
    past = prepared.past()
    ((_, branch, left),) = branches(prepared.parts, prepared.columns, [submitted])
    past.run_times.ended(left.tolist())
    wanted = np.sort(branch.present.sequence[branch.present.waits])
    rows = [(prepared.columns, place) for place in wanted.tolist()]
    also = None
    if supposed is not None:
        also = _columns_of(supposed, prepared, branch.now)
        wanted = np.append(wanted, submitted)
        rows.append((also, 0))
    found = forecast_starts(
        branch, past, wanted, samples=samples, seed=seed, also=also, ended=ended
    )  # fmt: skip
    starts = np.stack([found.quantile(share) for share in quantiles], axis=1).tolist()
    jobs = tuple(
        ForecastJob(
            None if source is also else int(source.job_id[row]),
            int(source.submit_time[row]),
            int(source.units[row]),
            int(source.requested_time[row]),
            tuple(own),
        )
        for (source, row), own in zip(rows, starts, strict=True)
    )
    running = int((branch.present.start_time >= 0).sum())
    return Forecast(branch.now, tuple(quantiles), jobs, running, samples, prepared.calendar)


def _columns_of(supposed: SupposedJob, prepared: PreparedReplay, now: int) -> JobColumns:
    numbers = RequestNumbers()
    for one in prepared.columns.requests:
        numbers.of(one)
    number = int(prepared.columns.job_id.max(initial=0)) + 1
    parts = prepared.parts
    limits = ReplayLimits(parts.system, parts.partitions, parts.policies)
    job = job_supposed(supposed, number, now, parts.system, limits)
    # No start depends on the run time of a job that has not started, which nobody knows.
    (columns,) = columns_of([TracedJob(job, supposed.time)], numbers)
    return columns


def job_supposed(
    supposed: SupposedJob, number: int, now: int, system: System, limits: ReplayLimits
) -> Job:
    """Return a supposed job as one that is submitted at second `now`."""
    amounts = dict(supposed.resources) or {system.resource_types[0]: 1}
    request = Request(
        units=supposed.units,
        unit_request=tuple(amounts.get(name, 0) for name in system.resource_types),
    )
    job = Job(number, now, request, supposed.time, supposed.user)
    job, refused_by = limits.admit(job)
    if refused_by is not None:
        raise InputError(Finding("refused", f"the job is refused: {refused_by}", key="--if"))
    if idle_room(system, job.request).units < job.units:
        message = "the job does not fit on the system, even if it is idle"
        raise InputError(Finding("too-large", message, key="--if"))
    return job


def forecast_table(found: Forecast) -> Table:
    """Return the forecasts of jobs as a table: times from now until the start."""
    shares = (f"{100 * share:g} %" for share in found.quantiles)
    header = ("job", "units", "requested", "waits for", *shares)
    rows = [
        (
            "supposed" if job.job_id is None else str(job.job_id),
            str(job.units),
            duration_text(job.requested_time),
            duration_text(found.now - job.submit_time),
            *(
                "now" if start <= found.now else duration_text(start - found.now)
                for start in job.starts
            ),
        )
        for job in found.jobs
    ]
    return Table(
        header,
        rows,
        name="forecast",
        title=f"Starts after {found.calendar.instant(found.now)}, with {found.running} jobs"
        " running",
        notes=(
            "The columns with % are quantiles of the time until the start: so many of"
            f" {found.samples} sampled futures start the job within it.",
        ),
        words=1,
    )


def forecast_content(found: Forecast) -> dict[str, Any]:
    """Return a forecast as content for JSON; times in seconds since the trace's origin."""
    return {
        "now": found.now,
        "running": found.running,
        "samples": found.samples,
        "quantiles": list(found.quantiles),
        "jobs": [job._asdict() | {"starts": list(job.starts)} for job in found.jobs],
    }
