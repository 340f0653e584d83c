"""The oracle: a predictor that is always right."""

from hpcsched.registration import SEES_RUN_TIME, builtin
from hpcsched.workload.job import Job


@builtin(
    "predictor",
    "actual",
    summary="the real run time, which no real system knows (an oracle)",
    capabilities={SEES_RUN_TIME},
)
class Actual:
    """Foresees the real run time, as no real system can: the most that prediction could give."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the real run time."""
        return run_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""
