"""Data of runs over time and by round: load, outages, decision times."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric import Column, whole_column
from hpcsched.metrics.over_time import OverTime, over_time, spanning
from hpcsched.report.compared_study import JobTimes, percentiles
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.outage_records import recorded_outages
from hpcsched.runs.shared_resource_records import shared_levels
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import System


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
    """Time series of a quantity, from the first submission of a run to the last end.

    Attributes
    ----------
    offered
        Offered amount of a shared resource over time; None for other quantities.
    """

    quantity: str
    unit: str
    values: OverTime
    offered: OverTime | None = None


def load_series(
    one: StudiedRun, jobs: JobTimes, resource: str | None = None
) -> Iterator[LoadSeries]:
    """Yield queue length, use of resources and of shared resources, and nodes out of service.

    Parameters
    ----------
    resource
        The only resource type whose use is wanted; None: all that some node has.
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
    """Decision times of the rounds within a range of queue lengths.

    Attributes
    ----------
    queue_from, queue_to
        Least and largest queue length, both included.
    mean, p50, p90, largest
        Decision times in real seconds; percentiles by nearest rank.
    """

    queue_from: int
    queue_to: int
    rounds: int
    mean: float
    p50: float
    p90: float
    largest: float


def by_queue_length(queued: Column, seconds: FloatColumn) -> Iterator[QueueBin]:
    """Yield the decision times by queue length, in bins of 0, 1, 2 to 3, 4 to 7 jobs, and so on.

    Parameters
    ----------
    queued, seconds
        Queue length before each round, and its decision time in real seconds, `[R]` each.
    """
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
