"""Data of runs over time and by round: use, queue, outages, decision times, choices, CPU time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.metrics.metric import Column, whole_column
from hpcsched.metrics.over_time import OverTime, over_time, spanning
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import USAGE
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.outage_records import recorded_outages
from hpcsched.runs.shared_resource_records import shared_levels
from hpcsched.runs.tables import ParquetTable
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import System


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
    return OverTime(used.instants, 100 * used.levels / total)


Case = tuple[str, str]
"""A configuration and a trace."""


class LoadSeries(NamedTuple):
    """Time series of a quantity.

    Attributes
    ----------
    limits
        Offered amount of a shared resource over time; empty for other quantities.
    """

    axis: str
    title: str
    series: Mapping[Case, OverTime]
    limits: Mapping[Case, OverTime]


def load_series(compared: ComparedStudy, resource: str | None) -> list[LoadSeries]:
    """Return the time series of the load, from the first submission to the last end.

    Parameters
    ----------
    compared
        The runs; of each configuration only the first seed counts.
    resource
        Resource type, whose use is in percent; None: all that some node has.
    """
    names = _resources(compared, resource)
    found: dict[tuple[str, str], tuple[dict[Case, OverTime], dict[Case, OverTime]]]
    found = defaultdict(lambda: ({}, {}))
    seen = set()
    queue = "jobs waiting", "Queue"
    used = {name: (f"{name} in use [%]", f"Utilization of {name}") for name in names}
    # They come first, and are there also where no job ran.
    for heading in (queue, *used.values()):
        found[heading] = ({}, {})
    for one in compared.study.runs:
        system, jobs = read_system(one.run.scenario_path), compared.jobs[one.name]
        case = one.configuration, one.group
        # Lines of several seeds would hide each other, and their mean would hide peaks.
        own = [name for name in names if name in system.resource_types]
        if case in seen or not own or not len(jobs.submits):
            continue
        seen.add(case)
        span = int(jobs.submits.min()), int(jobs.ends.max())
        found[queue][0][case] = spanning(over_time(jobs.submits, jobs.starts), *span)
        for name in own:
            found[used[name]][0][case] = spanning(percent_in_use(one, system, name), *span)
        for shared, drawn, offered in shared_resources_over_time(one):
            heading = f"{shared} drawn", f"Drawn from {shared}"
            found[heading][0][case] = spanning(drawn, *span)
            found[heading][1][case] = spanning(offered, *span)
        down = nodes_down_over_time(one)
        if len(down.levels):
            heading = "nodes out of service", "Nodes out of service"
            found[heading][0][case] = spanning(down, *span)
    return [LoadSeries(*heading, *series) for heading, series in found.items()]


def shared_resources_over_time(one: StudiedRun) -> Iterator[tuple[str, OverTime, OverTime]]:
    """Yield the use of each shared resource over time; nothing of a run on a real cluster.

    There, other jobs draw from them too, and the run has no time series of them.
    """
    names = [resource.name for resource in read_system(one.run.scenario_path).shared_resources]
    if not names or ON_A_CLUSTER in one.run.manifest.not_reproducible_because:
        return
    time, drawn, offered = shared_levels(one.run.path, names)
    for name, amounts, limit in zip(names, drawn, offered, strict=True):
        # The last row is the end.
        levels, most = (column[:-1].astype(np.float64) for column in (amounts, limit))
        yield name, OverTime(time, levels), OverTime(time, most)


def nodes_down_over_time(one: StudiedRun) -> OverTime:
    """Return the number of nodes out of service over time; without levels if there is no outage."""
    down = down_time(recorded_outages(one.run))
    return over_time(down.start, down.end)


def _resources(compared: ComparedStudy, resource: str | None) -> Sequence[str]:
    """Return the resource types to show; raise InputError where no system has the given one."""
    systems = [read_system(one.run.scenario_path) for one in compared.study.runs]
    totals = [item for one in systems for item in zip(one.resource_types, one.totals, strict=True)]
    types = list(dict.fromkeys(name for name, _ in totals))
    if resource is not None and resource not in types:
        message = f"no system has {resource!r}; there are: {', '.join(types)}"
        raise InputError(Finding("unknown-resource-type", message))
    # A system may declare a type of which no node has any.
    there = list(dict.fromkeys(name for name, total in totals if total))
    return (there or types) if resource is None else [resource]


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


def decision_times(one: StudiedRun) -> tuple[Column, FloatColumn]:
    """Return the queue length before each round, and its decision time.

    Returns
    -------
    tuple
        Numbers of jobs, `[R]`, and real seconds, `[R]`.
    """
    queued = whole_column(one.run.rounds, "queued")
    return queued, np.asarray(whole_column(one.run.rounds, "decision_time"), np.float64)


def by_queue_length(one: StudiedRun) -> Iterator[QueueBin]:
    """Yield the decision times by queue length, in bins of 0, 1, 2 to 3, 4 to 7 jobs, and so on."""
    queued, seconds = decision_times(one)
    # A length has as many binary digits as the largest of its bin.
    digits = np.frexp(queued.astype(np.float64))[1]
    for width in np.unique(digits).tolist():
        # frexp gives 0 for an empty queue, whose bin is 0 to 0.
        inside = np.sort(seconds[digits == width])
        p50, p90 = (inside[nearest_rank(percent, len(inside))].item() for percent in (50, 90))
        bounds = (2 ** (width - 1) if width else 0, 2**width - 1)
        yield QueueBin(*bounds, len(inside), float(inside.mean()), p50, p90, inside[-1].item())


PARTS = ("loading", "dispatching", "other")
MEGABYTE = 1e6
HOW = "the observer cpu-memory records it: observers: [cpu-memory]"


class Usage(NamedTuple):
    """CPU time and memory of a run.

    Attributes
    ----------
    now
        Simulated second of each round, `[R]`.
    times
        CPU seconds by part, in the order of `PARTS`, `[3, R]`.
    memory
        Resident memory in bytes, `[R]`; NaN where unknown.
    """

    now: FloatColumn
    times: FloatColumn
    memory: FloatColumn


def usage_of(one: StudiedRun) -> Usage | None:
    """Return the recorded CPU time and memory of a run.

    Returns
    -------
    Usage or None
        None without the observer `cpu-memory`.
    """
    path = one.run.path / USAGE
    if not path.is_file():
        return None
    names = ("now", *(f"{part}_time" for part in PARTS), "memory")
    table = ParquetTable(path).read(*names)
    now, *times, memory = (
        np.asarray(table[name].to_numpy(zero_copy_only=False), np.float64) for name in names
    )
    return Usage(now, np.stack(times), memory)


def recorded_usage(compared: ComparedStudy) -> Mapping[tuple[str, str], list[Usage]]:
    """Return the recorded CPU time and memory, by configuration and trace."""
    found: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            found[one.configuration, one.group].append(usage)
    if not found:
        raise InputError(Finding("no-usage", f"no run recorded CPU time and memory; {HOW}"))
    return found


def mean_times(times: FloatColumn) -> list[float]:
    """Return the mean of each part, 0 where there was no round.

    Parameters
    ----------
    times
        CPU seconds by part and round, `[3, R]`.
    """
    return [float(mean) for mean in (times.mean(axis=1) if times.shape[1] else np.zeros(3))]


class ChosenFrom(NamedTuple):
    """A dispatcher that decides from a round on.

    Attributes
    ----------
    round, now
        Number and simulated second of the round.
    """

    round: int
    now: int
    chosen: str
    because: str


def choices_of(run: RunDirectory) -> tuple[ChosenFrom, ...]:
    """Return the choices of a run, in order; empty where the dispatcher does not choose."""
    table = run.rounds.read("round", "now", "chosen", "because")
    moved = table.filter(pc.is_valid(table["chosen"]))
    return tuple(
        ChosenFrom(row["round"], row["now"], row["chosen"], row["because"])
        for row in moved.to_pylist()
    )


def choice_at(choices: Sequence[ChosenFrom], time: int) -> ChosenFrom | None:
    """Return the dispatcher that decided at a time.

    Parameters
    ----------
    time
        Simulated second.

    Returns
    -------
    ChosenFrom or None
        None before the first round.
    """
    before = [choice for choice in choices if choice.now <= time]
    return before[-1] if before else None
