"""Percentiles of wait time, response time and bounded slowdown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.metric_tables import Table
from hpcsched.metrics.slowdown import COLUMNS, bounded_slowdowns


def percentiles(
    jobs: Table, percents: Sequence[int], tau: int
) -> dict[str, dict[str, float | None]]:
    """Return percentiles of wait time, response time and bounded slowdown of all jobs that ran.

    All values of one quantity are in memory at once, 8 bytes a job.

    Parameters
    ----------
    percents
        Percentages, from 0 to 100.
    tau
        Lower bound of run times in the bounded slowdown, in seconds.

    Returns
    -------
    dict
        By quantity and by `p50`, `p90` and so on; times in seconds, slowdowns as ratios. None where
        no job ran.

    Notes
    -----
    The p-th percentile of n values is by nearest rank: the ⌈p·n/100⌉-th smallest (the smallest for
    0), always a value that occurs.
    """
    waits = [start - submit for submit, start in jobs.batches("submit_time", "start_time")]
    found = {"wait_time": _nearest_ranks(waits, percents)}
    # Freed before the next quantity is read: 8 bytes a job each.
    del waits
    responses = [end - submit for submit, end in jobs.batches("submit_time", "end_time")]
    found["response_time"] = _nearest_ranks(responses, percents)
    del responses
    slowdowns = [
        bounded_slowdowns(submit, end, run_time, tau)
        for submit, end, run_time in jobs.batches(*COLUMNS)
    ]
    found["bounded_slowdown"] = _nearest_ranks(slowdowns, percents)
    return found


def _nearest_ranks(
    parts: list[npt.NDArray[Any]], percents: Sequence[int]
) -> dict[str, float | None]:
    values = np.concatenate(parts) if parts else np.empty(0)
    if not percents or not len(values):
        return {f"p{percent}": None for percent in percents}
    ranks = {percent: nearest_rank(percent, len(values)) for percent in percents}
    values = np.partition(values, list(ranks.values()))
    return {f"p{percent}": values[rank].item() for percent, rank in ranks.items()}


def nearest_rank(percent: int, count: int) -> int:
    """Return the index, from 0, of a percentile among `count` ascending values.

    Parameters
    ----------
    count
        Number of values, at least 1.
    """
    return max(-(-percent * count // 100), 1) - 1
