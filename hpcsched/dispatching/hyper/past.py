"""The past as a dispatcher may know it: arrivals, and run times of the jobs that have ended."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of, joined_columns

NOT_YET = -1
"""The start of a job that has not started, and the end of one that has not ended."""


@dataclass(frozen=True, slots=True)
class PastJobs:
    """The jobs that had been submitted by `now`, in order of submission, `[J]`.

    The `run_time` of each is the real one once it is known, and before that the predicted one, or
    one second longer than the job has run if that is more. Its `requested_time` is the predicted
    run time. `starts` are the real ones, `now` where a job has not started, and `places` say as
    which job each was seen.
    """

    columns: JobColumns
    demands: Any
    starts: IntArray
    places: IntArray
    now: int

    def __len__(self) -> int:
        return len(self.starts)


class Past:
    """Jobs as they were submitted, with their starts and ends, in columns.

    `seen` counts all that were submitted, `ends` those of them that have ended, and `exact` those
    that ended when they were predicted to.
    """

    def __init__(self) -> None:
        self._numbers = RequestNumbers()
        self._columns: list[JobColumns] = []
        self._new: list[TracedJob] = []
        self._demands: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._in_system: dict[int, int] = {}
        self.ends = self.exact = 0

    @property
    def seen(self) -> int:
        """Number of jobs submitted so far."""
        return len(self._starts)

    def see(self, problem: DispatchingProblem) -> None:
        """Take note of jobs that have been submitted; a queue is in order of arrival."""
        known = self._in_system
        new = list(takewhile(lambda job: job.job_id not in known, reversed(problem.queue)))
        for job in reversed(new):
            self._add(job)

    def started(self, running: RunningJob) -> None:
        """Take note of a start."""
        if running.job_id not in self._in_system:
            self._add(running.waiting)
        self._starts[self._in_system[running.job_id]] = running.start_time

    def ended(self, running: RunningJob, end_time: int) -> None:
        """Take note of an end."""
        place = self._in_system.pop(running.job_id, None)
        if place is not None:
            self._ends[place] = end_time
            self.ends += 1
            predicted = running.waiting.predicted_run_time
            self.exact += end_time - running.start_time == predicted

    def jobs(self, now: int) -> PastJobs:
        """Return all jobs; there is at least one."""
        self._columns = [
            joined_columns([*self._columns, *columns_of(self._new, self._numbers, self.seen)])
        ]
        self._new.clear()
        starts, ends = np.array(self._starts), np.array(self._ends)
        started, ended = starts != NOT_YET, ends != NOT_YET
        predicted = self._columns[0].requested_time
        run_times = np.where(started, np.maximum(predicted, now - starts + 1), predicted)
        run_times = np.where(ended, ends - starts, run_times)
        # What was held back is seen later than what was submitted after it.
        places = np.argsort(self._columns[0].submit_time, kind="stable")
        demands = np.array(self._demands)
        # Whole numbers beyond int64 make an array of objects, which NumPy's functions refuse.
        if demands.dtype == object:
            demands = demands.astype(np.float64)
        return PastJobs(
            self._columns[0]._replace(run_time=run_times).take(places),
            demands[places],
            np.where(started, starts, now)[places],
            places,
            now,
        )

    def _add(self, job: WaitingJob) -> None:
        self._in_system[job.job_id] = self.seen
        asked = job.job._replace(requested_time=job.predicted_run_time, after=(), think_time=0)
        self._new.append(TracedJob(asked, job.predicted_run_time))
        self._demands.append(job.demand)
        self._starts.append(NOT_YET)
        self._ends.append(NOT_YET)
