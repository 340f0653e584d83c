"""Use of a resource type by the jobs of a run over time."""

import numpy as np

from hpcsched.metrics.metric_tables import Column
from hpcsched.metrics.over_time import OverTime, over_time
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.system.system import System


def used_over_time(one: StudiedRun, resource: str) -> OverTime:
    """Return the amount of a resource type requested by running jobs, over time.

    Raises
    ------
    InputError
        A file is damaged, or the system has no such type.
    """
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
    """Return the use of a resource type over time, in percent of all nodes' capacity.

    Raises
    ------
    InputError
        A file is damaged.
    """
    used = used_over_time(one, resource)
    # A system may declare a type of which no node has any.
    total = max(system.totals[system.resource_types.index(resource)], 1)
    return OverTime(used.instants, 100 * used.levels / total)
