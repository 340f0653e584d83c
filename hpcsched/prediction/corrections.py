"""Corrections of predictions that running jobs have outlived: protocol and built-in ones."""

from typing import Protocol

from hpcsched.registration import builtin
from hpcsched.workload.job import Job


class Correction(Protocol):
    """Rule for the new estimate of a running job that has outlived its prediction.

    It never sees real run times, and its answer depends on the arguments alone.

    Examples
    --------
    >>> class Doubled:
    ...     def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
    ...         return max(1, 2 * elapsed)
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the new predicted run time of a job, in seconds, above `elapsed`.

        The new prediction holds until the job outlives it, too.

        Parameters
        ----------
        predicted_run_time
            The prediction at submission, in seconds; never an earlier correction.
        elapsed
            Seconds that the job has run, at least `predicted_run_time`.

        Returns
        -------
        int
            Whole seconds above `elapsed`; another value ends the run.
        """


@builtin("correction", "one-second", summary="one more second, in every round anew")
class OneSecond:
    """Correction that expects the end one second from now, in every round anew.

    Notes
    -----
    Source: Galleguillos, PhD thesis, 2020, section 5.2.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the elapsed time plus one second."""
        return elapsed + 1


@builtin(
    "correction",
    "doubling",
    summary="the prediction doubled as often as needed, up to the requested time",
)
class Doubling:
    """Correction that doubles the prediction as often as needed, up to the requested time.

    The further a prediction was off, the more time is added, so that a long job is corrected a few
    times only.

    Notes
    -----
    Corrections that grow are an idea of Tsafrir, Etsion and Feitelson, "Backfilling using
    system-generated predictions rather than user runtime estimates", IEEE Transactions on Parallel
    and Distributed Systems 18(6), 2007. They add time from a fixed list.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the first doubling above the elapsed time, at most the requested time.

        A requested time that has passed is not a bound.

        Parameters
        ----------
        predicted_run_time
            The prediction at submission, in seconds, at least 1.
        elapsed
            Seconds that the job has run.
        """
        doubled = predicted_run_time
        # Terminates: predictions are at least one second (see `PredictorDriver`).
        while doubled <= elapsed:
            doubled *= 2
        return min(doubled, job.requested_time) if job.requested_time > elapsed else doubled


@builtin(
    "correction",
    "requested-time",
    summary="the requested time; when that has passed, one more second",
)
class ToRequestedTime:
    """Correction to the requested time; after it has passed, to one second from now."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the requested time, but at least the elapsed time plus one second."""
        return max(job.requested_time, elapsed + 1)
