"""Baselines of forecasts: the plan by requested times, and the mean wait of similar recent jobs."""

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.simulation.replay_branches import LaterJobs, ReplayBranch
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns

RECENT = 20
"""Number of similar jobs whose waits are averaged."""


def planned_start(branch: ReplayBranch, sequence: int) -> int:
    """Return the start of a job if all run for their requested times and none is submitted later.

    This is what `squeue --start` of Slurm tells: the plan of the dispatcher at the instant.

    Parameters
    ----------
    branch
        State of the replay.
    sequence
        Place of the job among all submitted.
    """
    present = branch.present
    requested = present.requested_time
    starts = branch.start_times(requested[np.newaxis], [LaterJobs()], np.array([sequence]))
    return int(starts[0, 0])


class SimilarWaits:
    """Waits of jobs by size class: equal binary orders of magnitude of units and requested time.

    Parameters
    ----------
    columns
        All jobs of the trace.
    start_times
        Their start times, `[J]`; those after an instant are not used for it.
    """

    def __init__(self, columns: JobColumns, start_times: IntArray) -> None:
        self._starts = start_times
        self._waits: FloatColumn = (start_times - columns.submit_time).astype(np.float64)
        units, requested = (
            np.frexp(values.astype(np.float64))[1]
            for values in (columns.units, np.maximum(columns.requested_time, 1))
        )
        self._classes = 64 * units.astype(np.int64) + requested

    def mean_wait(self, sequence: int, now: int) -> float:
        """Return the mean wait of the last similar jobs that have started, in seconds.

        Parameters
        ----------
        sequence
            Place of the job among all submitted.
        now
            The instant, in seconds.

        Returns
        -------
        float
            Mean over all jobs that have started if there is no similar one; 0 if none has.
        """
        started = np.flatnonzero(self._starts[:sequence] <= now)
        similar = started[self._classes[started] == self._classes[sequence]][-RECENT:]
        chosen = similar if len(similar) else started
        return float(self._waits[chosen].mean()) if len(chosen) else 0.0
