"""Decision times of dispatchers by queue length.

The figure is that of the scalability of dispatchers in Galleguillos and others, AccaSim: a
customizable workload management simulator for job dispatching research in HPC systems, 2020.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric_tables import Column, whole_column
from hpcsched.metrics.percentiles import nearest_rank
from hpcsched.report.studied_runs import StudiedRun


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
