"""Use of a resource type by the jobs of a run over time."""

import numpy as np

from hpcsched.metrics.metric_tables import Column
from hpcsched.metrics.over_time import OverTime, over_time
from hpcsched.report.studied_runs import StudiedRun


def used_over_time(one: StudiedRun, resource: str) -> OverTime:
    """Return the amount of a resource type requested by running jobs, over time.

    Parameters
    ----------
    one
        The run; all of its jobs that ran count.
    resource
        Resource type.

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
