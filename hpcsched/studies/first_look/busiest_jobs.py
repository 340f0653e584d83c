"""The busiest jobs of a log: most of them would find the machine full."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob

_STEPS = 10
"""Number of parts of the log looked at for each that would lie beside it."""


class BusyPart(NamedTuple):
    """Consecutive jobs of a log, beside the first as many.

    Attributes
    ----------
    skip
        Number of jobs before them.
    crowded, first_crowded
        Share of these, and of the first jobs, that would find no room if all of them started when
        they are submitted.
    span
        Seconds from their first submission to their last.
    """

    skip: int
    crowded: float
    first_crowded: float
    span: int


def busiest_part(jobs: Iterable[TracedJob], totals: Sequence[int], count: int) -> BusyPart | None:
    """Return the consecutive jobs of which most would find no room; None if there are no others.

    Parameters
    ----------
    jobs
        The jobs of the log, in the order of submission.
    totals
        Amount of each resource type on all nodes; 0 for a type that is not looked at. A job's share
        of the machine is its largest share of a type.
    count
        Number of jobs. Parts begin at multiples of a tenth of it.

    Notes
    -----
    The load that jobs offer would say less: a few long ones within a short time offer much, and yet
    leave room.
    """
    submits: list[int] = []
    ends: list[int] = []
    shares: list[float] = []
    for job, run_time in jobs:
        amounts = zip(job.unit_request, totals, strict=True)
        submits.append(job.submit_time)
        ends.append(job.submit_time + run_time)
        shares.append(
            max((job.units * amount / total for amount, total in amounts if total), default=0.0)
        )
    if len(submits) <= count:
        return None
    begin, end, share = np.array(submits), np.array(ends), np.array(shares)
    skips = range(0, len(submits) - count + 1, max(count // _STEPS, 1))
    crowded = [
        _crowded(begin[skip : skip + count], end[skip : skip + count], share[skip : skip + count])
        for skip in skips
    ]
    most = int(np.argmax(crowded))
    skip = skips[most]
    span = submits[skip + count - 1] - submits[skip]
    return BusyPart(skip, crowded[most], crowded[0], span)


def _crowded(begin: IntArray, end: IntArray, share: FloatColumn) -> float:
    """Return the share of jobs that find no room if all start at once, in order of submission."""
    order = np.argsort(end, kind="stable")
    left = np.concatenate(([0.0], np.cumsum(share[order])))
    # A job that ends as another one is submitted has left.
    used = np.cumsum(share) - left[np.searchsorted(end[order], begin, side="right")]
    return float((used > 1 + 1e-9).mean())
