"""A study with the times of its jobs, its time series, its decision times, and its baseline."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.capacity import OverTime, over_time, spanning
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.job_metrics import bounded_slowdowns, nearest_rank
from hpcsched.metrics.metric import Column, whole_column
from hpcsched.report.studied_runs import StudiedRun, Study, pick_run
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.resource_records import recorded_outages, shared_levels
from hpcsched.runs.summary import DEFAULT_TAU
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import System

_TIMES = ("job_id", "submit_time", "start_time", "end_time")


class JobTimes(NamedTuple):
    """Times of the jobs that ran, in seconds, by ascending number, `[J]` each."""

    job_ids: Column
    submits: Column
    starts: Column
    ends: Column
    tau: int

    @classmethod
    def of(cls, jobs: Any, tau: int) -> "JobTimes":
        """Return the times in an Arrow table of jobs by ascending number."""
        ids, submits, starts, ends = (jobs[name].to_numpy().astype(np.int64) for name in _TIMES)
        return cls(ids, submits, starts, ends, tau)

    @property
    def run_times(self) -> Column:
        """Run time of each job, in seconds, `[J]`."""
        return self.ends - self.starts

    def only(self, keep: Any) -> "JobTimes":
        """Return some of the jobs."""
        columns = (self.job_ids, self.submits, self.starts, self.ends)
        job_ids, submits, starts, ends = (column[keep] for column in columns)
        return JobTimes(job_ids, submits, starts, ends, self.tau)


class Quantity(NamedTuple):
    """A quantity of each job; the unit is empty for a ratio, `has` masks the jobs that have it."""

    title: str
    unit: str
    population: str
    of: Callable[[JobTimes], FloatColumn]
    has: Callable[[JobTimes], Any] | None = None

    def values(self, jobs: JobTimes) -> FloatColumn:
        """Return the values of the jobs that have the quantity."""
        return self.of(jobs if self.has is None else jobs.only(self.has(jobs)))


_ALL_JOBS = "all jobs that ran"
QUANTITIES: Mapping[str, Quantity] = {
    "wait_time": Quantity(
        "wait time", "s", _ALL_JOBS, lambda jobs: (jobs.starts - jobs.submits).astype(np.float64)
    ),
    "response_time": Quantity(
        "response time", "s", _ALL_JOBS, lambda jobs: (jobs.ends - jobs.submits).astype(np.float64)
    ),
    "slowdown": Quantity(
        "slowdown",
        "",
        "jobs that ran for at least 1 s",
        lambda jobs: np.asarray((jobs.ends - jobs.submits) / jobs.run_times),
        lambda jobs: jobs.run_times > 0,
    ),
    "bounded_slowdown": Quantity(
        "bounded slowdown",
        "",
        _ALL_JOBS,
        lambda jobs: bounded_slowdowns(jobs.submits, jobs.ends, jobs.run_times, jobs.tau),
    ),
}
"""Quantities of each job, by their names in the glossary."""

MEANS = {f"mean_{name}": name for name in QUANTITIES}
"""Metrics that are the mean of a quantity over jobs, with the quantity."""


def percentiles(values: FloatColumn, percents: Iterable[int]) -> list[float]:
    """Return percentiles of one or more values by nearest rank; 0 is the least, 100 the largest."""
    ascending = np.sort(values)
    return [ascending[nearest_rank(percent, len(values))].item() for percent in percents]


def read_job_times(one: StudiedRun) -> JobTimes:
    """Return the times of a run's jobs that ran."""
    table = one.run.all_jobs.read(*_TIMES)
    # Rejected jobs have no start; every quantity is over jobs that ran.
    table = table.filter(table["start_time"].is_valid()).sort_by("job_id")
    return JobTimes.of(table, tau_of(one))


def tau_of(one: StudiedRun) -> int:
    """Return the bound of a run's bounded slowdown, in seconds."""
    definition = one.run.summary.get("definitions", {}).get("mean_bounded_slowdown", {})
    # A scenario need not ask for the metric whose bound this is.
    return int(definition.get("parameters", {}).get("tau", DEFAULT_TAU))


def by_submission(jobs: JobTimes) -> Column:
    """Return the indices of jobs in the order of submission, `[J]`."""
    # Ties stay in the order of numbers: blocks are the same on every platform.
    return np.argsort(jobs.submits, kind="stable")


class ComparedStudy:
    """The runs of a study with their jobs, each read once, and the baseline of the comparison.

    The baseline is a configuration or its label, of which the first run is meant, or a run as
    `pick_run` takes it; None is the first run.
    """

    def __init__(self, study: Study, baseline: str | None = None) -> None:
        self.study = study
        of_label = {label: name for name, label in study.configuration_labels.items()}
        if baseline is not None and baseline not in study.configurations:
            baseline = of_label.get(baseline, baseline)
        of_configuration = [one for one in study.runs if baseline in (None, one.configuration)]
        first = of_configuration[0] if of_configuration else pick_run(str(baseline), study.runs)
        self.baseline_run = first
        self.baseline = first.configuration

    @property
    def baseline_label(self) -> str:
        """Label of the baseline's configuration."""
        return self.study.configuration_labels[self.baseline]

    @cached_property
    def jobs(self) -> Mapping[str, JobTimes]:
        """The jobs of each run, by the run's name."""
        return {one.name: read_job_times(one) for one in self.study.runs}

    def pairs(self) -> Iterator[tuple[StudiedRun, StudiedRun]]:
        """Yield runs of other configurations, each with the baseline's of the same trace and seed.

        If both configurations have a single run of a trace, their seeds may differ. A run without a
        counterpart is left out.
        """
        by_case = self.study.cases
        for one in self.study.runs:
            if one.configuration == self.baseline:
                continue
            others = by_case.get((self.baseline, one.group), [])
            same = [other for other in others if other.seed == one.seed]
            # Deterministic dispatchers are often run once, under whatever seed.
            alone = len(others) == len(by_case[one.configuration, one.group]) == 1
            for other in same or (others if alone else ()):
                yield one, other


def checked_resource(one: StudiedRun, system: System, resource: str) -> str:
    """Return a resource type that the system of a run has; raise InputError otherwise."""
    if resource not in system.resource_types:
        there = ", ".join(system.resource_types)
        message = f"the system of {one.name} has no {resource!r}; there are: {there}"
        raise InputError(Finding("unknown-resource-type", message))
    return resource


def used_over_time(one: StudiedRun, resource: str) -> OverTime:
    """Return the amount of a resource type requested by running jobs, over time."""
    names = ("start_time", "end_time", "units", f"unit_request.{resource}")
    parts: list[tuple[Column, ...]] = list(one.run.jobs.batches(*names))
    if not parts:
        nothing = np.empty(0, np.int64)
        return over_time(nothing, nothing)
    start, end, units, amount = (
        np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)
    )
    return over_time(start, end, units * amount)


def percent_in_use(one: StudiedRun, system: System, resource: str) -> OverTime:
    """Return the use of a resource type over time, in percent of all nodes' capacity."""
    used = used_over_time(one, resource)
    # A system may declare a type of which no node has any.
    total = max(system.totals[system.resource_types.index(resource)], 1)
    return OverTime(used.instants, 100 / total * used.levels)


class LoadSeries(NamedTuple):
    """Time series of a quantity; `offered` is the amount of a shared resource, else None."""

    quantity: str
    unit: str
    values: OverTime
    offered: OverTime | None = None


def load_series(
    one: StudiedRun, jobs: JobTimes, resource: str | None = None
) -> Iterator[LoadSeries]:
    """Yield queue length, use of resources and of shared resources, and nodes out of service.

    A resource type is the only one whose use is wanted; None: all that some node has.
    """
    system = read_system(one.run.scenario_path)
    span = int(min(jobs.submits, default=0)), int(max(jobs.ends, default=0))
    yield LoadSeries("queue_length", "jobs", spanning(over_time(jobs.submits, jobs.starts), *span))
    names = [name for name, n in zip(system.resource_types, system.totals, strict=True) if n]
    for name in names if resource is None else [checked_resource(one, system, resource)]:
        used = percent_in_use(one, system, name)
        yield LoadSeries(f"utilization of {name}", "%", spanning(used, *span))
    shared = [shared_resource.name for shared_resource in system.shared_resources]
    # On a real cluster other jobs draw from them too, and the run has no time series of them.
    if shared and ON_A_CLUSTER not in one.run.manifest.not_reproducible_because:
        time, drawn, offered = shared_levels(one.run.path, shared)
        for name, *levels in zip(shared, drawn, offered, strict=True):
            # The last row is the end.
            both = (spanning(OverTime(time, own[:-1].astype(np.float64)), *span) for own in levels)
            yield LoadSeries(f"drawn from {name}", "own unit", *both)
    down = down_time(recorded_outages(one.run))
    if len(down.start):
        values = spanning(over_time(down.start, down.end), *span)
        yield LoadSeries("out of service", "nodes", values)


class QueueBin(NamedTuple):
    """Decision times, in real seconds, of the rounds within a range of queue lengths."""

    queue_from: int
    queue_to: int
    rounds: int
    mean: float
    p50: float
    p90: float
    largest: float


def by_queue_length(queued: Column, seconds: FloatColumn) -> Iterator[QueueBin]:
    """Yield the decision times by queue length, in bins of 0, 1, 2 to 3, 4 to 7 jobs, and so on."""
    # A length has as many binary digits as the largest of its bin.
    digits = np.frexp(queued.astype(np.float64))[1]
    for width in np.unique(digits).tolist():
        inside = seconds[digits == width]
        # frexp gives 0 for an empty queue, whose bin is 0 to 0.
        bounds = (2 ** (width - 1) if width else 0, 2**width - 1)
        mean = float(np.sort(inside).mean())
        yield QueueBin(*bounds, len(inside), mean, *percentiles(inside, (50, 90, 100)))


def decision_times(one: StudiedRun) -> list[QueueBin]:
    """Return the decision times of a run by queue length."""
    queued, seconds = (whole_column(one.run.rounds, name) for name in ("queued", "decision_time"))
    return list(by_queue_length(queued, np.asarray(seconds, np.float64)))
