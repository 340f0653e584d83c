"""Checks of jobs before they are replayed in compiled code, which relies on them."""

import numpy as np

from hpcsched._core import NumbersSeen
from hpcsched.arrow_arrays import numpy_array
from hpcsched.system.system import IntArray
from hpcsched.workload.job import LARGEST_SUM, LONGEST
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError

LARGEST_AMOUNT = 1 << 61
"""Largest sum of requests of all jobs in the system, of any resource type."""


class ColumnChecks:
    """Checks of batches of jobs, one after another.

    Every finding raises NeedsPythonError: the event loop in Python, with numbers of any size, names
    the fault. A job may begin again at `again` at the latest.
    """

    def __init__(self, again: int = 0) -> None:
        self._seen = NumbersSeen()
        self._again = again
        self._lasting = 0
        self._last_submit = 0

    def check_amounts(self, columns: JobColumns, asked: IntArray, present: IntArray) -> None:
        """Check the sum of requests of the jobs in the system.

        Parameters
        ----------
        asked
            Amounts per unit of each request, `[S, R]`.
        present
            Amounts that jobs in the system ask for before the batch, `[R]`.

        Raises
        ------
        NeedsPythonError
            If the sum is too large.
        """
        units = columns.units.astype(np.float64)[:, None]
        amounts = (asked[columns.request] * units).sum(axis=0)
        if (amounts + present > LARGEST_AMOUNT).any():
            raise NeedsPythonError("amounts that need more than 61 bits in all")

    def check(self, columns: JobColumns, room: IntArray) -> None:
        """Check a batch and count it.

        Parameters
        ----------
        room
            Units of each request that fit on the idle system, `[S]`.

        Raises
        ------
        NeedsPythonError
            If a job cannot be replayed in compiled code.
        """
        if not len(columns.job_id):
            return
        units, request = columns.units, columns.request
        times = columns.submit_time, columns.run_time, columns.requested_time
        if (
            min(int(column.min()) for column in times) < 0
            or max(int(column.max()) for column in times) > LONGEST
            or int(columns.submit_time[0]) < self._last_submit
            or (np.diff(columns.submit_time) < 0).any()
        ):
            raise NeedsPythonError("times that are out of order, or too large")
        self._last_submit = int(columns.submit_time[-1])
        self.lasting(int(np.maximum(columns.run_time, columns.requested_time).sum()))
        think_times = numpy_array(columns.details.column("think_time"))
        if think_times.min(initial=0) < 0 or think_times.max(initial=0) > LONGEST:
            raise NeedsPythonError("times that are out of order, or too large")
        self.lasting(int(think_times.sum()))
        if (units < 1).any() or ((units > room[request]) & (columns.refusals < 0)).any():
            raise NeedsPythonError("jobs that do not fit on the system")
        if not self._seen.add_all(columns.job_id):
            raise NeedsPythonError("job numbers that come twice")

    def lasting(self, seconds: int) -> None:
        """Add run times, in seconds, to the sum so far.

        Raises
        ------
        NeedsPythonError
            If the sum is too large.
        """
        self._lasting += seconds
        if max(self._last_submit, self._again) + self._lasting > LARGEST_SUM:
            raise NeedsPythonError("times that are too large in all")
