"""What a run's load is over time: the queue, what is in use, pools, and nodes out of service."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.over_time import OverTime, over_time, spanning
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.usage import used_over_time
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.job_times import system_of
from hpcsched.results.outages import recorded_outages
from hpcsched.results.pools import pool_levels
from hpcsched.system.node_outages import down_time

Case = tuple[str, str]
"""A contender and a trace."""


class LoadCourse(NamedTuple):
    """A quantity over time: what its axis says, what it is called, and its course in each case.

    `limits` has, for pools, what is offered; it is empty for all else.
    """

    axis: str
    title: str
    courses: Mapping[Case, OverTime]
    limits: Mapping[Case, OverTime]


def load_courses(compared: ComparedStudy, resource: str | None) -> list[LoadCourse]:
    """Return the queue, the use of a resource type in percent, and what else there is.

    That is what is drawn from each pool, and how many nodes are out of service. The resource type
    is the first system's first, if not given. Only the first seed of each contender counts. Times
    are from the first submission to the last end. Raises InputError where no system has the type.
    """
    name = _resource(compared, resource)
    found: dict[tuple[str, str], tuple[dict[Case, OverTime], dict[Case, OverTime]]]
    found = defaultdict(lambda: ({}, {}))
    seen = set()
    queue = "jobs waiting", "Queue"
    used = f"{name} in use [%]", f"Utilization of {name}"
    # They come first, and are there also where no job ran.
    found[queue], found[used] = ({}, {}), ({}, {})
    for one in compared.study.runs:
        system, jobs = system_of(one), compared.jobs[one.name]
        case = one.contender, one.group
        if case in seen or name not in system.resource_types or not len(jobs.submits):
            continue
        seen.add(case)
        span = int(jobs.submits.min()), int(jobs.ends.max())
        amounts = used_over_time(one, name)
        total = max(system.totals[system.resource_types.index(name)], 1)
        found[queue][0][case] = spanning(over_time(jobs.submits, jobs.starts), *span)
        percent = OverTime(amounts.instants, 100 * amounts.levels / total)
        found[used][0][case] = spanning(percent, *span)
        for pool, drawn, offered in pools_over_time(one):
            heading = f"{pool} drawn", f"Drawn from {pool}"
            found[heading][0][case] = spanning(drawn, *span)
            found[heading][1][case] = spanning(offered, *span)
        down = nodes_down_over_time(one)
        if len(down.levels):
            heading = "nodes out of service", "Nodes out of service"
            found[heading][0][case] = spanning(down, *span)
    return [LoadCourse(*heading, *courses) for heading, courses in found.items()]


def pools_over_time(one: StudiedRun) -> Iterator[tuple[str, OverTime, OverTime]]:
    """Yield of each pool of a run its name, what was drawn from it, and what it offered.

    Raises InputError where the file is damaged.
    """
    names = [pool.name for pool in system_of(one).pools]
    if not names:
        return
    time, drawn, offered = pool_levels(one.run.path, names)
    for name, course, limit in zip(names, drawn, offered, strict=True):
        # The last row is the end.
        levels, most = (column[:-1].astype(np.float64) for column in (course, limit))
        yield name, OverTime(time, levels), OverTime(time, most)


def nodes_down_over_time(one: StudiedRun) -> OverTime:
    """Return how many nodes were out of service in a run; no level where none ever was."""
    down = down_time(recorded_outages(one.run))
    return over_time(down.start, down.end)


def _resource(compared: ComparedStudy, resource: str | None) -> str:
    """Return the resource type to show; raises InputError where no system has it."""
    types = dict.fromkeys(t for one in compared.study.runs for t in system_of(one).resource_types)
    name = next(iter(types)) if resource is None else resource
    if name not in types:
        message = f"no system has {name!r}; there are: {', '.join(types)}"
        raise InputError(Finding("unknown-resource-type", message))
    return name
