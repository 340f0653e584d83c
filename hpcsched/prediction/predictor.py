"""Protocols of predictors."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.workload.job import Job


class Predictor(Protocol):
    """Predictor of run times at submission, which may learn from completed jobs."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time of a job at its submission.

        Parameters
        ----------
        job
            The job that is being submitted; its real run time is not among its fields.

        Returns
        -------
        int
            Whole seconds. A value below 1 counts as 1, and another type ends the run.
        """

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds.

        Parameters
        ----------
        run_time
            Its real run time in seconds.
        """


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
        """Learn from a completed job.

        Parameters
        ----------
        run_time
            Its real run time in seconds.
        """


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
        """Learn from a completed job.

        Parameters
        ----------
        run_time
            Its real run time in seconds.
        """


REQUESTED_TIME = "requested_time"
"""Name of the last rule of every list: without history, the requested time is the prediction."""


def whole_seconds(answer: object) -> int:
    """Return a predictor's answer as a run time in seconds; an answer below 1 becomes 1.

    Raises
    ------
    ValueError
        If the answer is not an `int`; so a float such as 59.9 is refused, not rounded.

    Examples
    --------
    >>> whole_seconds(0)
    1
    """
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
