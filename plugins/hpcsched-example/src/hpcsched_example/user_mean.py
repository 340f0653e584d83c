"""The predictor `user-mean`: a user's jobs are taken to run as long as the last ones did."""

from collections import defaultdict, deque

from hpcsched import Job


class UserMean:
    """Predicts the mean of the user's last `history` run times, at most the requested time."""

    def __init__(self, history: int) -> None:
        self._ran: dict[int | None, deque[int]] = defaultdict(lambda: deque(maxlen=history))

    def predict(self, job: Job) -> int:
        """Return the mean in whole seconds; the requested time until one of theirs has ended."""
        ran = self._ran[job.user]
        return max(1, min(sum(ran) // len(ran), job.requested_time)) if ran else job.requested_time

    def observe(self, job: Job, run_time: int) -> None:
        """Remember the run time; jobs of users who are not given count as one user's."""
        self._ran[job.user].append(run_time)
