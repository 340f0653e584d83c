"""Time series of the load of a run: queue, resource use, shared resources, nodes out of service."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.over_time import OverTime, over_time, spanning
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.usage import percent_in_use
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.outage_records import recorded_outages
from hpcsched.runs.shared_resource_records import shared_levels
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time

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

    Returns
    -------
    list
        Queue length, use of each resource type and of each shared resource, and nodes out of
        service.

    Raises
    ------
    InputError
        No system has the resource type.
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

    Returns
    -------
    Iterator
        Name, amount drawn by running jobs, and amount offered.

    Raises
    ------
    InputError
        The file is damaged.
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
