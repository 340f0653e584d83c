"""Oracle with the real run times."""

from hpcsched.registration import SEES_RUN_TIME, builtin
from hpcsched.workload.job import Job


@builtin(
    "predictor",
    "actual",
    summary="the real run time, which no real system knows (an oracle)",
    capabilities={SEES_RUN_TIME},
)
class Actual:
    """Oracle that predicts the real run time: an upper bound on the benefit of prediction."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the real run time."""
        return run_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""
