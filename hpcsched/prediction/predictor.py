"""The protocols of predictors."""

from typing import Protocol, runtime_checkable

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
