"""The protocols of predictors."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.workload.job import Job


class Predictor(Protocol):
    """Says at submission how many seconds a job will run (at least 1); may learn from ends."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time of a job that is being submitted."""

    def observe(self, job: Job, run_time: int) -> None:
        """Take note that a job has completed after `run_time` seconds."""


@runtime_checkable
class Oracle(Protocol):
    """A predictor that is shown the real run time; its plugin must declare that it is."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the predicted run time of a job whose real run time is known."""

    def observe(self, job: Job, run_time: int) -> None:
        """Take note that a job has completed after `run_time` seconds."""


class Prediction(NamedTuple):
    """A predicted run time in seconds, and the name of the rule that it comes from."""

    seconds: int
    rule: str


@runtime_checkable
class RulePredictor(Protocol):
    """A predictor that goes through rules, and can say which of them gave an answer."""

    @property
    def rules(self) -> Sequence[str]:
        """The names of the rules, in the order in which they are asked."""

    def predict_by(self, job: Job) -> Prediction:
        """Return the predicted run time of a job that is being submitted, and the rule."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time alone."""

    def observe(self, job: Job, run_time: int) -> None:
        """Take note that a job has completed after `run_time` seconds."""


REQUESTED_TIME = "requested_time"
"""The rule that stands last in every list: where nothing is known, the user is believed."""


def whole_seconds(answer: object) -> int:
    """Return a predictor's answer as a run time in seconds; an answer below 1 counts as 1.

    Raises ValueError unless it is an `int`, and so also for `59.9`, which nobody rounds.
    """
    if type(answer) is not int:
        raise ValueError(f"expected a whole number of seconds, found {answer!r}")
    return max(1, answer)


def capped(seconds: int, job: Job) -> int:
    """Return seconds that are at least 1 and not more than the job's requested time."""
    return max(1, min(seconds, job.requested_time))
