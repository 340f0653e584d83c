"""The oracle: a predictor that is always right."""

from hpcsched.workload.job import Job


class Actual:
    """Foresees the real run time, as no real system can: the most that prediction could give."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the real run time."""
        return run_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""
