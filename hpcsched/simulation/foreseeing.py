"""What is foreseen of jobs: how long they will run, and when those that do will end."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from operator import attrgetter

from hpcsched.dispatching.problem import RunningJob
from hpcsched.errors import PluginError
from hpcsched.prediction.correction import Correction
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.workload.job import Job

_predicted_end = attrgetter("predicted_end_time")


class Forecasts:
    """What the predictor says of jobs, checked; only an oracle is shown real run times."""

    def __init__(self, predictor: Predictor | Oracle) -> None:
        self._called = type(predictor).__name__
        self._forecast: Callable[[Job, int], object]
        if isinstance(predictor, Oracle):
            self._forecast = predictor.foresee
        else:
            self._forecast = lambda job, _: predictor.predict(job)

    def of(self, job: Job, run_time: int) -> int:
        """Return the predicted run time in seconds, at least 1; raises PluginError."""
        try:
            predicted = self._forecast(job, run_time)
        except Exception as error:
            raise self.fault(job, f"raised {type(error).__name__}: {error}") from error
        if type(predicted) is not int:
            raise self.fault(job, f"expected a whole number of seconds, found {predicted!r}")
        return predicted if predicted > 0 else 1

    def fault(self, job: Job, what: str) -> PluginError:
        """Return the error that says what the predictor did wrong with a job."""
        return PluginError(f"predictor {self._called}, job {job.job_id}: {what}")


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
        try:
            run_time = self._correction.correct(waiting.job, waiting.predicted_run_time, elapsed)
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise self._fault(waiting.job, what) from error
        if type(run_time) is not int or run_time <= elapsed:
            what = f"expected a whole number of seconds above {elapsed}, found {run_time!r}"
            raise self._fault(waiting.job, what)
        return running._replace(predicted_end_time=running.start_time + run_time)

    def _fault(self, job: Job, what: str) -> PluginError:
        correction = type(self._correction).__name__
        return PluginError(f"correction {correction}, job {job.job_id}: {what}")
