"""Protocol of corrections."""

from typing import Protocol

from hpcsched.workload.job import Job


class Correction(Protocol):
    """Protocol of corrections of outlived predictions.

    A correction is not told how long jobs really run.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the new predicted run time of a job, in seconds, above `elapsed`.

        The answer holds until the job outlives it too.

        Parameters
        ----------
        job
            The running job.
        predicted_run_time
            Prediction at submission, in seconds, without corrections since.
        elapsed
            Seconds that the job has run, at least as many.
        """
