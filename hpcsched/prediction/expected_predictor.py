"""The predictor `expected`, which needs the core."""

from hpcsched._core import ExpectedRunTimes
from hpcsched.registration import builtin
from hpcsched.workload.job import Job


@builtin(
    "predictor",
    "expected",
    summary="the mean share of the requested time that similar jobs took, times the requested time",
)
class Expected:
    """Predictor of the mean run time of jobs of the same user and requested time.

    It is the expected run time by which queue orders sort with `run_times: expected`, as a share
    of the requested time; see `ExpectedRunTimes`. Without a user, other jobs without one count.
    """

    def __init__(self) -> None:
        self._learnt = ExpectedRunTimes()

    def predict(self, job: Job) -> int:
        """Return the expected run time, at most the requested time."""
        return self._learnt.expected(*_user_and_request(job))

    def observe(self, job: Job, run_time: int) -> None:
        """Record the run time as a share of the requested time."""
        self._learnt.learn(*_user_and_request(job), run_time)


def _user_and_request(job: Job) -> tuple[int, int]:
    """Return the user, -1 if unknown, and the requested time, at least 1."""
    return -1 if job.user is None else job.user, max(1, job.requested_time)
