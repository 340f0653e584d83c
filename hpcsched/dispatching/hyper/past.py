"""The past as a dispatcher may know it: arrivals, and run times of the jobs that have ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob


@dataclass(slots=True)
class PastJob:
    """A job that was submitted: when it started and ended, None where it has not yet."""

    waiting: WaitingJob
    start: int | None = None
    end: int | None = None

    def run_time(self, now: int) -> int:
        """Return the real run time once it is known, and before that the predicted one.

        A job that has outlived its prediction is said to run one second longer than it has.
        """
        predicted = self.waiting.predicted_run_time
        if self.start is None:
            return predicted
        if self.end is None:
            return max(predicted, now - self.start + 1)
        return self.end - self.start

    def traced(self, submit_time: int, run_time: int) -> TracedJob:
        """Return the job as a trace would have it; its prediction stands as requested time."""
        job = self.waiting.job._replace(
            submit_time=submit_time,
            requested_time=self.waiting.predicted_run_time,
            after=(),
            think_time=0,
        )
        return TracedJob(job, run_time)


@dataclass(frozen=True, slots=True)
class Window:
    """The latest jobs, and what was in the system when the first of them was submitted.

    `jobs` are to be replayed: first those that ran or waited then, and from `first` on the jobs of
    the window. The arrays are of the window alone, `[W]`; `starts` are the real ones, `now` where a
    job has not started.
    """

    jobs: Sequence[TracedJob]
    first: int
    now: int
    submit_times: IntArray
    run_times: IntArray
    demands: Sequence[int]
    starts: IntArray


class Past:
    """Jobs in order of submission, of which only the latest are remembered.

    `seen` counts all that were submitted, `ends` those of them that have ended, and `exact` those
    that ended when they were predicted to.

    Parameters
    ----------
    longest
        The number of jobs of the longest window that will be asked for.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._jobs: list[PastJob] = []
        self._by_id: dict[int, PastJob] = {}
        self.seen = self.ends = self.exact = 0

    def see(self, problem: DispatchingProblem) -> None:
        """Take note of jobs that have been submitted; a queue is in order of arrival."""
        known = self._by_id
        new = list(takewhile(lambda job: job.job_id not in known, reversed(problem.queue)))
        for job in reversed(new):
            self._add(job)
        if len(self._jobs) > 2 * self._longest + 1000:
            self._forget()

    def started(self, running: RunningJob) -> None:
        """Take note of a start."""
        past = self._by_id.get(running.job_id)
        if past is None:
            past = self._add(running.waiting)
        past.start = running.start_time

    def ended(self, running: RunningJob, end_time: int) -> None:
        """Take note of an end."""
        past = self._by_id.get(running.job_id)
        if past is not None:
            past.end = end_time
            self.ends += 1
            self.exact += end_time - running.start_time == past.waiting.predicted_run_time

    def window(self, jobs: int, now: int) -> Window:
        """Return the latest jobs, at most so many of them, and what was there before."""
        latest = sorted(self._jobs[-jobs:], key=_submit_time)
        begin = latest[0].waiting.submit_time
        before = [past for past in self._jobs[:-jobs] if past.end is None or past.end > begin]
        ran = [past for past in before if past.start is not None and past.start <= begin]
        waited = [past for past in before if past.start is None or past.start > begin]
        replayed = [past.traced(begin, past.run_time(now) - _ran(past, begin)) for past in ran]
        replayed += [past.traced(begin, past.run_time(now)) for past in waited]
        run_times = [past.run_time(now) for past in latest]
        replayed += [
            past.traced(past.waiting.submit_time, run_time)
            for past, run_time in zip(latest, run_times, strict=True)
        ]
        return Window(
            replayed,
            len(before),
            now,
            np.array([past.waiting.submit_time for past in latest], dtype=np.int64),
            np.array(run_times, dtype=np.int64),
            [past.waiting.demand for past in latest],
            np.array([now if past.start is None else past.start for past in latest]),
        )

    def _add(self, job: WaitingJob) -> PastJob:
        past = self._by_id[job.job_id] = PastJob(job)
        self._jobs.append(past)
        self.seen += 1
        return past

    def _forget(self) -> None:
        """Forget the jobs that had ended before the longest window began."""
        begin = self._jobs[-self._longest].waiting.submit_time
        old = self._jobs[: -self._longest]
        kept = [past for past in old if past.end is None or past.end > begin]
        self._jobs = kept + self._jobs[-self._longest :]
        self._by_id = {past.waiting.job_id: past for past in self._jobs}


def _submit_time(past: PastJob) -> int:
    return past.waiting.submit_time


def _ran(past: PastJob, now: int) -> int:
    """Return how long a running job has run."""
    assert past.start is not None
    return now - past.start
