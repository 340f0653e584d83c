"""Predictions for the jobs of a trace, as if no job had to wait.

Without a dispatcher the ends of jobs are unknown. So each job starts when it is submitted, and
completes at its submit time plus its run time. At each instant the predictor first learns from the
jobs that complete, in the order of their numbers, and then predicts those that are submitted. No
predictor hears of a completion before its instant.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Oracle, Predictor, PredictorDriver
from hpcsched.workload.job import Job, TracedJob

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Predictions of one predictor.

    Attributes
    ----------
    seconds
        Predicted run time of each job, `[J]`, in order of submission.
    rules
        Names of the rules of a predictor by rules; empty for any other.
    rule
        Number of the rule that answered, `[J]`; empty without rules.
    """

    seconds: IntArray
    rules: tuple[str, ...]
    rule: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TracePredictions:
    """Real run times, `[J]`, in seconds, and the predictions of each predictor, by title."""

    run_times: IntArray
    predicted: dict[str, Predicted]


def predict_trace(
    jobs: Iterable[TracedJob],
    predictors: Mapping[str, Predictor | Oracle],
    *,
    kill_at_requested_time: bool = False,
) -> TracePredictions:
    """Return the predictions of all predictors for a trace.

    Parameters
    ----------
    jobs
        Jobs by ascending submit time.
    predictors
        Predictors by title.
    kill_at_requested_time
        True: no run time exceeds the requested one.

    Raises
    ------
    PluginError
        If a predictor fails or the jobs are out of order.
    """
    asked = {title: _Asked(title, predictor) for title, predictor in predictors.items()}
    run_times = array("q")
    # Instant, number, place in the trace (so that jobs are never compared), job and run time.
    ends: list[tuple[int, int, int, Job, int]] = []
    now: int | None = None
    for place, (job, given) in enumerate(jobs):
        run_time = min(given, job.requested_time) if kill_at_requested_time else given
        if now is not None and job.submit_time < now:
            raise PluginError(
                f"trace source: job {job.job_id} is submitted at {job.submit_time},"
                f" before a job that was submitted at {now}"
            )
        if now is None or job.submit_time > now:  # else submissions of the instant have begun
            now = job.submit_time
            while ends and ends[0][0] <= now:
                *_, ended, its_run_time = heappop(ends)
                for one in asked.values():
                    one.observe(ended, its_run_time)
        for one in asked.values():
            one.predict(job, run_time)
        run_times.append(run_time)
        # Pushed after the prediction: a job of 0 s is learnt from at the next instant, not at its
        # own.
        heappush(ends, (now + run_time, job.job_id, place, job, run_time))
    return TracePredictions(
        _whole_numbers(run_times), {title: one.result() for title, one in asked.items()}
    )


class _Asked:
    """A predictor, and its predictions so far."""

    def __init__(self, title: str, predictor: Predictor | Oracle) -> None:
        self._driver = PredictorDriver(predictor, title)
        self._numbers = {name: number for number, name in enumerate(self._driver.rules)}
        self._seconds = array("q")
        self._rule = array("q")

    def predict(self, job: Job, run_time: int) -> None:
        """Predict the run time of a job; only an oracle is shown the real one."""
        seconds, rule = self._driver.predict_by(job, run_time)
        self._seconds.append(seconds)
        if self._numbers:
            self._rule.append(self._numbers[rule])

    def observe(self, job: Job, run_time: int) -> None:
        """Notify the predictor of a completion."""
        self._driver.observe(job, run_time)

    def result(self) -> Predicted:
        """Return all predictions."""
        rule = _whole_numbers(self._rule)
        return Predicted(_whole_numbers(self._seconds), self._driver.rules, rule)


def _whole_numbers(values: "array[int]") -> IntArray:
    return np.array(values, dtype=np.int64)
