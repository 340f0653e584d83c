"""Predictions of a live run: learnt from the cluster's history and from completed jobs."""

from collections.abc import Iterator
from heapq import heappop, heappush

from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Oracle, Predictor, PredictorDriver
from hpcsched.workload.job import Job, TracedJob

_NOT_KNOWN = 0
"""Stand-in for the run time of a job that has not ended; only an oracle is shown run times."""


class Predictions:
    """Predicted run time of every job, asked for when the job is first seen.

    A prediction stands, also where the predictor has learnt since, as in a simulation.

    Raises
    ------
    PluginError
        If the predictor fails; messages name it by `name`, or by its class.
    """

    def __init__(self, predictor: Predictor | Oracle, name: str | None = None) -> None:
        if isinstance(predictor, Oracle):
            raise PluginError("a predictor that is shown run times cannot be asked about a cluster")
        self._predictor = PredictorDriver(predictor, name)
        self._seconds: dict[int, int] = {}

    def of(self, job: Job) -> int:
        """Return the predicted run time of a job, in seconds, at least 1."""
        known = self._seconds.get(job.job_id)
        if known is None:
            known = self._predictor.predict(job, _NOT_KNOWN)
            # Kept, since predictors may count the jobs that they are asked about.
            self._seconds[job.job_id] = known
        return known

    def learn(self, job: Job, run_time: int) -> None:
        """Notify the predictor of a completion, and forget the prediction."""
        self._predictor.observe(job, run_time)
        self.forget(job.job_id)

    def forget(self, job_id: int) -> None:
        """Forget a job that will not be asked about any more."""
        self._seconds.pop(job_id, None)

    def learn_history(self, jobs: Iterator[TracedJob], origin: int) -> int:
        """Learn from earlier jobs; return their number.

        They are predicted as they are submitted, and end as if none had waited, since some
        predictors count the jobs in the system.

        Parameters
        ----------
        jobs
            Jobs by ascending submit time, in seconds since 1970.
        origin
            Origin of times of the site, in the same seconds.
        """
        ends: list[tuple[int, int, Job, int]] = []
        count = 0
        for traced, run_time in jobs:
            job = traced._replace(submit_time=traced.submit_time - origin)
            while ends and ends[0][0] <= job.submit_time:
                self.learn(*heappop(ends)[2:])
            self.of(job)
            # The count breaks ties, so that jobs, which have no order, are never compared.
            heappush(ends, (job.submit_time + run_time, count, job, run_time))
            count += 1
        while ends:
            self.learn(*heappop(ends)[2:])
        return count
