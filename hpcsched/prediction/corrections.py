"""Built-in corrections of outlived predictions."""

from hpcsched.registration import builtin
from hpcsched.workload.job import Job


@builtin(
    "correction",
    "one-second",
    summary="one more second, in every round anew",
)
class OneSecond:
    """Correction to one second from now, each time anew.

    The rule of Galleguillos, thesis 2020, section 5.2.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return `elapsed` + 1."""
        return elapsed + 1


@builtin(
    "correction",
    "doubling",
    summary="the prediction doubled as often as needed, up to the requested time",
)
class Doubling:
    """Correction that doubles the prediction as often as needed, up to the requested time.

    The further a prediction was off, the more time is added, and a long job is corrected a few
    times only. Growing corrections are an idea of Tsafrir, Etsion and Feitelson, "Backfilling using
    system-generated predictions rather than user runtime estimates", IEEE Transactions on Parallel
    and Distributed Systems 18(6), 2007. They add time from a fixed list.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the first double above `elapsed`, or the requested time if that is less.

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
    """Correction to the requested time; when that has passed, to one second from now."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the larger of the requested time and `elapsed` + 1."""
        return max(job.requested_time, elapsed + 1)
