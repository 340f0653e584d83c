"""Protocol of corrections."""

from typing import Protocol

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
