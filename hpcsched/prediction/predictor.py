"""Protocols of predictors."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.workload.job import Job


class Predictor(Protocol):
    """Protocol of predictors: run times at submission, learnt from completions.

    Examples
    --------
    >>> class Half:
    ...     def predict(self, job):
    ...         return max(1, job.requested_time // 2)
    ...     def observe(self, job, run_time):
    ...         pass
    """

    def predict(self, job: Job) -> int:
        """Return the predicted run time of a job at its submission, in seconds, at least 1."""

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


@runtime_checkable
class Oracle(Protocol):
    """Protocol of predictors that are shown the real run time; their plugins must declare it."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the predicted run time of a job with a known real one, in seconds."""

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


class Prediction(NamedTuple):
    """A predicted run time in seconds, and the name of the rule that it comes from."""

    seconds: int
    rule: str


@runtime_checkable
class RulePredictor(Protocol):
    """Protocol of predictors that name the rule of each prediction."""

    @property
    def rules(self) -> Sequence[str]:
        """Names of the rules, in the order in which they are tried."""

    def predict_by(self, job: Job) -> Prediction:
        """Return the predicted run time of a job that is being submitted, with its rule."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time alone."""

    def observe(self, job: Job, run_time: int) -> None:
        """Learn from a job that has completed after `run_time` seconds."""


REQUESTED_TIME = "requested_time"
"""Last rule of every list: without knowledge, the requested time."""


def whole_seconds(answer: object) -> int:
    """Return a predictor's answer as a run time in seconds; an answer below 1 counts as 1.

    Raises
    ------
    ValueError
        If it is no `int`; so also for `59.9`, which is not rounded.

    Examples
    --------
    >>> whole_seconds(60), whole_seconds(-5)
    (60, 1)
    """
    if type(answer) is not int:
        raise ValueError(f"expected a whole number of seconds, found {answer!r}")
    return max(1, answer)


def capped(seconds: int, job: Job) -> int:
    """Return seconds between 1 and the requested time of a job."""
    return max(1, min(seconds, job.requested_time))
