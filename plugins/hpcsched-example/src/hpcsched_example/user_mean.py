"""The predictor `user-mean`: mean run time of the user's last jobs."""

from collections import defaultdict, deque

from hpcsched import Job


class UserMean:
    """Predictor by the mean of the user's last run times, at most the requested time.

    Parameters
    ----------
    history
        Number of run times in the mean.
    """

    def __init__(self, history: int) -> None:
        self._ran: dict[int | None, deque[int]] = defaultdict(lambda: deque(maxlen=history))

    def predict(self, job: Job) -> int:
        """Return the mean, in seconds; the requested time before a job of the user has ended."""
        ran = self._ran[job.user]
        return max(1, min(sum(ran) // len(ran), job.requested_time)) if ran else job.requested_time

    def observe(self, job: Job, run_time: int) -> None:
        """Add a run time, in seconds; jobs without a user count as those of one user."""
        self._ran[job.user].append(run_time)
