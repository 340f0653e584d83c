"""What a running job that has outlived its prediction is said to need."""

from hpcsched.registration import builtin
from hpcsched.workload.job import Job


@builtin(
    "correction",
    "one-second",
    summary="one more second, in every round anew",
)
class OneSecond:
    """Expects the end one second from now, each time anew.

    The rule of Galleguillos, thesis 2020, section 5.2.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return what has elapsed and one second."""
        return elapsed + 1


@builtin(
    "correction",
    "doubling",
    summary="the prediction doubled as often as needed, up to the requested time",
)
class Doubling:
    """Doubles the prediction as often as needed, and expects no more than the user requested.

    So the further a prediction was off, the more time is added, and a job that runs long is
    corrected a few times only. Corrections that grow are an idea of Tsafrir, Etsion and Feitelson,
    "Backfilling using system-generated predictions rather than user runtime estimates", IEEE
    Transactions on Parallel and Distributed Systems 18(6), 2007. They add time from a fixed list.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the first double above what has elapsed, or the requested time if that is less.

        A requested time that has passed is no bound.
        """
        doubled = predicted_run_time
        while doubled <= elapsed:
            doubled *= 2
        return min(doubled, job.requested_time) if job.requested_time > elapsed else doubled


@builtin(
    "correction",
    "requested-time",
    summary="the requested time; when that has passed, one more second",
)
class ToRequestedTime:
    """Expects the end at the requested time; when that has passed, one second from now."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the requested time, or what has elapsed and one second if that is more."""
        return max(job.requested_time, elapsed + 1)
