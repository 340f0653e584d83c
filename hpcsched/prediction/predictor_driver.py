"""The one way to ask a predictor or a correction: it checks answers and names the plugin at fault.

Simulations, evaluations and live runs ask here, so that an answer means the same to all of them.
"""

from collections.abc import Callable

from hpcsched.errors import PluginError
from hpcsched.prediction.correction import Correction
from hpcsched.prediction.predictor import (
    Oracle,
    Prediction,
    Predictor,
    RulePredictor,
    whole_seconds,
)
from hpcsched.workload.job import Job


class PredictorDriver:
    """Predictor with checked answers; only an oracle is shown real run times.

    Parameters
    ----------
    predictor
        The predictor.
    name
        Name of its plugin in messages; its class by default.
    """

    def __init__(self, predictor: Predictor | Oracle, name: str | None = None) -> None:
        self._name = name or type(predictor).__name__
        self._learn = predictor.observe
        self._rule_predictor = predictor if isinstance(predictor, RulePredictor) else None
        self.rules = () if self._rule_predictor is None else tuple(self._rule_predictor.rules)
        """The names of a rule predictor's rules; empty for any other."""
        self._answer: Callable[[Job, int], object]
        if isinstance(predictor, Oracle):
            self._answer = predictor.foresee
        else:
            self._answer = lambda job, _: predictor.predict(job)

    def predict(self, job: Job, run_time: int) -> int:
        """Return the predicted run time of a job.

        Parameters
        ----------
        job
            A job that is being submitted.
        run_time
            Its real run time in seconds, which only an oracle is shown.

        Returns
        -------
        int
            Seconds; an answer below 1 counts as 1.

        Raises
        ------
        PluginError
            If the predictor raises something, or its answer is no whole number.
        """
        try:
            answer = self._answer(job, run_time)
        except PluginError:
            raise  # of a predictor that this one asks, which is named
        except Exception as error:
            raise self._raised(job, error) from error
        return self._seconds(job, answer)

    def predict_by(self, job: Job, run_time: int) -> Prediction:
        """Return the predicted run time as `predict` does, with its rule; empty without rules.

        Raises
        ------
        PluginError
            As for `predict`, and if the rule is not one that the predictor lists.
        """
        if self._rule_predictor is None:
            return Prediction(self.predict(job, run_time), "")
        try:
            seconds, rule = self._rule_predictor.predict_by(job)
        except Exception as error:
            raise self._raised(job, error) from error
        if rule not in self.rules:
            listed = ", ".join(self.rules)
            raise self._fault(job, f"expected one of its rules, {listed}, found {rule!r}")
        return Prediction(self._seconds(job, seconds), rule)

    def observe(self, job: Job, run_time: int) -> None:
        """Notify the predictor of a completion.

        Raises
        ------
        PluginError
            If it fails.
        """
        try:
            self._learn(job, run_time)
        except Exception as error:
            raise self._raised(job, error) from error

    def _seconds(self, job: Job, answer: object) -> int:
        try:
            return whole_seconds(answer)
        except ValueError as error:
            raise self._fault(job, str(error)) from None

    def _raised(self, job: Job, error: Exception) -> PluginError:
        return self._fault(job, f"raised {type(error).__name__}: {error}")

    def _fault(self, job: Job, what: str) -> PluginError:
        return PluginError(f"predictor {self._name}, job {job.job_id}: {what}")


def corrected_run_time(
    correction: Correction, job: Job, predicted_run_time: int, elapsed: int
) -> int:
    """Return the corrected run time of a running job, in seconds, above `elapsed`.

    Parameters
    ----------
    correction
        The correction.
    job
        The job.
    predicted_run_time
        Prediction at submission, in seconds.
    elapsed
        Seconds that the job has run.

    Raises
    ------
    PluginError
        If the correction fails or returns anything else.
    """
    try:
        run_time = correction.correct(job, predicted_run_time, elapsed)
    except Exception as error:
        what = f"raised {type(error).__name__}: {error}"
        raise _correction_fault(correction, job, what) from error
    if type(run_time) is not int or run_time <= elapsed:
        what = f"expected a whole number of seconds above {elapsed}, found {run_time!r}"
        raise _correction_fault(correction, job, what)
    return run_time


def _correction_fault(correction: Correction, job: Job, what: str) -> PluginError:
    return PluginError(f"correction {type(correction).__name__}, job {job.job_id}: {what}")
