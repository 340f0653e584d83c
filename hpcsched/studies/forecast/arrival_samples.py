"""Samples of later jobs: the jobs that were submitted after an earlier, similar instant.

A sample is a piece of the trace's own past, moved to the present: what was submitted from so many
whole weeks ago on, so that hours of the day and days of the week agree (a block bootstrap with
blocks of weeks). A trace of less than a week is moved by days, a shorter one by its whole length.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from hpcsched.studies.forecast.run_time_samples import users_of
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns

DAY = 86_400
WEEK = 7 * DAY
MOST_WEEKS = 8
"""Number of weeks from which samples are taken."""
HORIZON = MOST_WEEKS * WEEK
"""Time for which later jobs are sampled; jobs that wait longer find an emptying system."""
AT_FIRST, AT_MOST = 8, 256
"""Numbers of jobs in the first batch and in the largest; each is twice as large as the one before.

A future ends at a batch once all jobs that are forecast have started. Most start soon, and rounds
that Python decides take long.
"""


class ArrivalHistory:
    """Jobs that were submitted before, which are moved to later times.

    Parameters
    ----------
    columns
        All jobs of the trace; of those after an instant nothing is used.
    """

    def __init__(self, columns: JobColumns) -> None:
        self._columns = columns
        self.users = users_of(columns)
        self._first_number = int(columns.job_id.max(initial=0)) + 2

    def lags(self, submitted: int, now: int) -> IntArray:
        """Return the times by which the past can be moved, in seconds.

        Parameters
        ----------
        submitted
            Number of jobs submitted up to now.
        now
            The instant, in seconds.
        """
        if not submitted:
            return np.empty(0, dtype=np.int64)
        known = now - int(self._columns.submit_time[0])
        for unit in (WEEK, DAY):
            if known >= unit:
                return unit * np.arange(1, min(known // unit, MOST_WEEKS) + 1)
        return np.array([max(known, 1)])

    def later(self, submitted: int, now: int, lag: int | None) -> Iterator[JobColumns]:
        """Yield jobs after an instant, as they were submitted `lag` seconds before, repeatedly.

        Parameters
        ----------
        submitted
            Number of jobs submitted up to now.
        now
            The instant, in seconds.
        lag
            Time by which the past is moved, in seconds; None: nothing is submitted.

        Returns
        -------
        Iterator
            Batches, up to `HORIZON` after the instant; none if nothing was submitted in that time.
        """
        if lag is None:
            return
        first = int(np.searchsorted(self._columns.submit_time, now - lag, side="right"))
        moved, number, size = lag, self._first_number, AT_FIRST
        while first < submitted and moved <= HORIZON:
            begin = first
            while begin < submitted:
                rows = np.arange(begin, min(begin + size, submitted))
                yield self._moved(rows, moved, number)
                number, begin = number + len(rows), begin + len(rows)
                size = min(2 * size, AT_MOST)
            moved += lag

    def _moved(self, rows: IntArray, seconds: int, first_number: int) -> JobColumns:
        columns = self._columns.take(rows)
        place = columns.details.schema.get_field_index("after")
        # The jobs that they waited for are not submitted again.
        nothing = pa.nulls(len(rows), columns.details.schema.field(place).type)
        return columns._replace(
            job_id=np.arange(first_number, first_number + len(rows)),
            submit_time=columns.submit_time + seconds,
            details=columns.details.set_column(place, "after", nothing),
        )
