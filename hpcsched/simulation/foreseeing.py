"""The ends of running jobs, as dispatchers are told of them."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from hpcsched.dispatching.problem import RunningJob
from hpcsched.prediction.correction import Correction
from hpcsched.prediction.driver import corrected_run_time

_predicted_end = attrgetter("predicted_end_time")


class EndsForeseen:
    """When running jobs are said to end, which is corrected where the prediction has run out."""

    def __init__(self, correction: Correction) -> None:
        self._correction = correction
        # Those that have outlived it, as dispatchers were last shown them, with a corrected end.
        self._corrected: dict[int, RunningJob] = {}

    def of(self, running: Sequence[RunningJob], now: int) -> tuple[RunningJob, ...]:
        """Return running jobs by foreseen end, after now; raises PluginError.

        They come in the order of the ends that were predicted at submission.
        """
        if not running or running[0].predicted_end_time > now:
            return tuple(running)
        overdue = bisect_left(running, (now + 1,))
        shown = self._corrected
        for job in running[:overdue]:
            corrected = shown.get(job.job_id)
            if corrected is None or corrected.predicted_end_time <= now:
                shown[job.job_id] = self._corrected_end(job, now)
        jobs = [*(shown[job.job_id] for job in running[:overdue]), *running[overdue:]]
        jobs.sort(key=_predicted_end)
        return tuple(jobs)

    def forget(self, job_id: int) -> None:
        """Take note that a job does not run any more."""
        self._corrected.pop(job_id, None)

    def _corrected_end(self, running: RunningJob, now: int) -> RunningJob:
        """Return a running job that has outlived all predictions with a corrected end."""
        waiting, elapsed = running.waiting, now - running.start_time
        run_time = corrected_run_time(
            self._correction, waiting.job, waiting.predicted_run_time, elapsed
        )
        return running._replace(predicted_end_time=running.start_time + run_time)
