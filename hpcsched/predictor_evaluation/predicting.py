"""Asks predictors about the jobs of a trace, as if no job had to wait.

Without a dispatcher nobody knows when jobs end. So each job is taken to start when it is submitted:
it completes at its submit time plus its run time. At each instant the jobs that complete then are
learnt from first, in the order of their numbers, and then those that are submitted then are
predicted. No predictor hears of a completion before its instant.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from hpcsched.errors import PluginError
from hpcsched.prediction.driver import PredictorDriver
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.workload.job import Job, TracedJob

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What one predictor said: seconds by job, `[J]`, in order of submission.

    `rules` names the rules of a predictor that goes by rules, and `rule`, `[J]`, has the number of
    the one that answered; for any other predictor both are empty.
    """

    seconds: IntArray
    rules: tuple[str, ...]
    rule: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TracePredictions:
    """Real run times, `[J]`, in seconds, and what each predictor said, by its title."""

    run_times: IntArray
    predicted: dict[str, Predicted]


def predict_trace(
    jobs: Iterable[TracedJob],
    predictors: Mapping[str, Predictor | Oracle],
    *,
    kill_at_requested_time: bool = False,
) -> TracePredictions:
    """Return what predictors say of jobs that come by ascending submit time.

    With `kill_at_requested_time` no run time is longer than was requested. Raises PluginError
    where a predictor fails or the jobs are out of order.
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
        heappush(ends, (now + run_time, job.job_id, place, job, run_time))
    return TracePredictions(
        _whole_numbers(run_times), {title: one.result() for title, one in asked.items()}
    )


class _Asked:
    """A predictor, and what it has said so far."""

    def __init__(self, title: str, predictor: Predictor | Oracle) -> None:
        self._driver = PredictorDriver(predictor, title)
        self._numbers = {name: number for number, name in enumerate(self._driver.rules)}
        self._seconds = array("q")
        self._rule = array("q")

    def predict(self, job: Job, run_time: int) -> None:
        """Ask for a job; only an oracle is shown its run time."""
        seconds, rule = self._driver.predict_by(job, run_time)
        self._seconds.append(seconds)
        if self._numbers:
            self._rule.append(self._numbers[rule])

    def observe(self, job: Job, run_time: int) -> None:
        """Tell that a job has completed."""
        self._driver.observe(job, run_time)

    def result(self) -> Predicted:
        """Return what it has said."""
        rule = _whole_numbers(self._rule)
        return Predicted(_whole_numbers(self._seconds), self._driver.rules, rule)


def _whole_numbers(values: "array[int]") -> IntArray:
    return np.array(values, dtype=np.int64)
