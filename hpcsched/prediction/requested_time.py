"""Predictor `requested-time`."""

from hpcsched.registration import builtin
from hpcsched.workload.job import Job


@builtin(
    "predictor",
    "requested-time",
    summary="the time that the user requested",
)
class RequestedTime:
    """Predictor of the requested time."""

    def predict(self, job: Job) -> int:
        """Return the requested time."""
        return job.requested_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""
