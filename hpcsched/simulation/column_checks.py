"""Checks of jobs before they are replayed in compiled code, which takes them to be as they must."""

import numpy as np

from hpcsched.arrow_arrays import numpy_array
from hpcsched.system.system import IntArray
from hpcsched.workload.columns import JobColumns, NeedsPythonError
from hpcsched.workload.readers.numbers_seen import NumbersSeen
from hpcsched.workload.time_bounds import LARGEST_SUM, LONGEST

LARGEST_AMOUNT = 1 << 61
"""What all jobs in the system may ask for in all, of any resource type."""


class ColumnChecks:
    """Checks of one batch of jobs after the other.

    Whatever is found is left to the loop of events in Python, which says what is wrong where
    something is, and has numbers of any size. A job may begin again at `again` at the latest.
    """

    def __init__(self, again: int = 0) -> None:
        self._seen = NumbersSeen()
        self._again = again
        self._lasting = 0
        self._last_submit = 0

    def check_amounts(self, columns: JobColumns, asked: IntArray, present: IntArray) -> None:
        """Raise NeedsPythonError where the jobs in the system would ask for too much in all.

        `asked`, `[S, R]`, is what a unit of each request asks for, and `present`, `[R]`, what the
        jobs in the system ask for before the batch.
        """
        units = columns.units.astype(np.float64)[:, None]
        amounts = (asked[columns.request] * units).sum(axis=0)
        if (amounts + present > LARGEST_AMOUNT).any():
            raise NeedsPythonError("amounts that need more than 61 bits in all")

    def check(self, columns: JobColumns, room: IntArray) -> None:
        """Take note of a batch; raises NeedsPythonError for jobs that are not as they must be.

        `room`, `[S]`, is how many units of each request fit on the idle system.
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
        """Take note of run times; raises NeedsPythonError where all so far are too large."""
        self._lasting += seconds
        if max(self._last_submit, self._again) + self._lasting > LARGEST_SUM:
            raise NeedsPythonError("times that are too large in all")
