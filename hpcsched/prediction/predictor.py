"""Protocols of predictors, and checked access to them.

Simulation, predictor evaluation and live runs all ask through `PredictorDriver`, so that the same
answer has the same effect in each of them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, named, raised
from hpcsched.registration import builtin
from hpcsched.workload.job import LONGEST, Job


class Correction(Protocol):
    """Rule for the new estimate of a running job that has outlived its prediction.

    It never sees real run times, and its answer depends on the arguments alone.

    Examples
    --------
    >>> class Doubled:
    ...     def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
    ...         return max(1, 2 * elapsed)
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the new predicted run time of a job, in seconds, above `elapsed`.

        The new prediction holds until the job outlives it, too.

        Parameters
        ----------
        predicted_run_time
            The prediction at submission, in seconds; never an earlier correction.
        elapsed
            Seconds that the job has run, at least `predicted_run_time`.

        Returns
        -------
        int
            Whole seconds above `elapsed`; another value ends the run.
        """


@builtin("correction", "one-second")
class OneSecond:
    """Correction: one more second, in every round anew.

    Notes
    -----
    Source: Galleguillos, PhD thesis, 2020, section 5.2.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the elapsed time plus one second."""
        return elapsed + 1


@builtin("correction", "doubling")
class Doubling:
    """Correction: the prediction doubled as often as needed, up to the requested time.

    The further a prediction was off, the more time is added, so that a long job is corrected a few
    times only.

    Notes
    -----
    Corrections that grow are an idea of Tsafrir, Etsion and Feitelson, "Backfilling using
    system-generated predictions rather than user runtime estimates", IEEE Transactions on Parallel
    and Distributed Systems 18(6), 2007. They add time from a fixed list.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the first doubling above the elapsed time, at most the requested time.

        A requested time that has passed is not a bound.

        Parameters
        ----------
        predicted_run_time
            The prediction at submission, in seconds, at least 1.
        elapsed
            Seconds that the job has run.
        """
        doubled = predicted_run_time
        # Terminates: predictions are at least one second (see `PredictorDriver`).
        while doubled <= elapsed:
            doubled *= 2
        return min(doubled, job.requested_time) if job.requested_time > elapsed else doubled


@builtin("correction", "requested-time")
class ToRequestedTime:
    """Correction: the requested time; when that has passed, one more second."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the requested time, but at least the elapsed time plus one second."""
        return max(job.requested_time, elapsed + 1)


class Predictor(Protocol):
    """Predictor of run times at submission, which may learn from completed jobs."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time of a job at its submission.

        Returns
        -------
        int
            Whole seconds. A value below 1 counts as 1, and another type ends the run.
        """

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


@runtime_checkable
class Oracle(Protocol):
    """Predictor that sees the real run time; its plugin declares the capability `SEES_RUN_TIME`."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the predicted run time of a job.

        Parameters
        ----------
        run_time
            Its real run time in seconds.

        Returns
        -------
        int
            Whole seconds.
        """

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


class Prediction(NamedTuple):
    """Predicted run time, and the rule that gave it.

    Attributes
    ----------
    seconds
        Predicted run time in seconds.
    """

    seconds: int
    rule: str


@runtime_checkable
class RulePredictor(Protocol):
    """Predictor with a list of rules that names the rule behind each prediction."""

    @property
    def rules(self) -> Sequence[str]:
        """Names of the rules, in the order in which they are tried."""

    def predict_by(self, job: Job) -> Prediction:
        """Return the predicted run time of a job at its submission, and the rule.

        Returns
        -------
        Prediction
            Whole seconds, and one of `rules`.
        """

    def predict(self, job: Job) -> int:
        """Return the predicted run time in seconds, without the rule."""

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


REQUESTED_TIME = "requested_time"
"""Name of the last rule of every list: without history, the requested time is the prediction."""


def whole_seconds(answer: object) -> int:
    """Return a predictor's answer as a run time in seconds; an answer below 1 becomes 1."""
    if type(answer) is not int:
        raise ValueError(f"expected a whole number of seconds, found {answer!r}")
    return max(1, answer)


def capped(seconds: int, job: Job) -> int:
    """Return a run time of at least 1 s and at most the job's requested time.

    Parameters
    ----------
    seconds
        Estimated run time in seconds.
    """
    return max(1, min(seconds, job.requested_time))


class PredictorDriver:
    """Checked access to a predictor; real run times reach oracles only.

    Parameters
    ----------
    name
        The name of its plugin, for messages; the predictor's class if None.
    """

    def __init__(self, predictor: Predictor | Oracle, name: str | None = None) -> None:
        self._named = named("predictor", predictor, name)
        self._learn = predictor.observe
        self._rule_predictor = predictor if isinstance(predictor, RulePredictor) else None
        self.rules = () if self._rule_predictor is None else tuple(self._rule_predictor.rules)
        """The names of a rule predictor's rules; empty for any other."""
        self._answer: Callable[[Job, int], object]
        # Decided once here, not per job: only an object with `foresee` ever sees a run time.
        if isinstance(predictor, Oracle):
            self._answer = predictor.foresee
        else:
            self._answer = lambda job, _: predictor.predict(job)

    def predict(self, job: Job, run_time: int) -> int:
        """Return the predicted run time of a job.

        Parameters
        ----------
        run_time
            Its real run time in seconds, which only an oracle is shown.
        """
        with self._blamed(job):
            answer = self._answer(job, run_time)
        return self._seconds(job, answer)

    def predict_by(self, job: Job, run_time: int) -> Prediction:
        """Return the predicted run time as `predict` does, and the rule behind it.

        Returns
        -------
        Prediction
            Seconds and rule; the rule is empty for a predictor without rules.
        """
        if self._rule_predictor is None:
            return Prediction(self.predict(job, run_time), "")
        with self._blamed(job):
            seconds, rule = self._rule_predictor.predict_by(job)
        if rule not in self.rules:
            listed = ", ".join(self.rules)
            raise self._fault(job, f"expected one of its rules, {listed}, found {rule!r}")
        return Prediction(self._seconds(job, seconds), rule)

    def observe(self, job: Job, run_time: int) -> None:
        """Pass a completed job to the predictor.

        Parameters
        ----------
        run_time
            Its real run time in seconds.
        """
        with self._blamed(job):
            self._learn(job, run_time)

    @contextmanager
    def _blamed(self, job: Job) -> Iterator[None]:
        """Raise PluginError in place of a fault of the predictor."""
        try:
            yield
        except PluginError:
            raise  # of a predictor that this one asks, which is named
        except FAULTS as error:
            raise self._fault(job, raised(error)) from error

    def _seconds(self, job: Job, answer: object) -> int:
        try:
            seconds = whole_seconds(answer)
        except ValueError as error:
            raise self._fault(job, str(error)) from None
        if seconds > LONGEST:
            raise self._fault(job, f"expected at most {LONGEST} s (136 years), found {seconds}")
        return seconds

    def _fault(self, job: Job, what: str) -> PluginError:
        return PluginError(f"{self._named}, job {job.job_id}: {what}")


def corrected_run_time(
    correction: Correction, job: Job, predicted_run_time: int, elapsed: int
) -> int:
    """Return the corrected estimate of a running job, in seconds, above the elapsed time.

    Parameters
    ----------
    predicted_run_time
        The prediction at submission, in seconds.
    elapsed
        Seconds that the job has run.
    """
    try:
        run_time = correction.correct(job, predicted_run_time, elapsed)
    except FAULTS as error:
        raise _correction_fault(correction, job, raised(error)) from error
    # Not isinstance: True is an int too, and numpy integers would leak into results.
    if type(run_time) is not int or run_time <= elapsed:
        what = f"expected a whole number of seconds above {elapsed}, found {run_time!r}"
        raise _correction_fault(correction, job, what)
    if run_time > LONGEST:
        what = f"expected at most {LONGEST} s (136 years), found {run_time}"
        raise _correction_fault(correction, job, what)
    return run_time


def _correction_fault(correction: Correction, job: Job, what: str) -> PluginError:
    return PluginError(f"{named('correction', correction)}, job {job.job_id}: {what}")
