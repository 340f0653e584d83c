"""The protocol of corrections."""

from typing import Protocol

from hpcsched.workload.job import Job


class Correction(Protocol):
    """Says what a running job is to need when it has outlived its prediction.

    It is told nothing of how long jobs really run, and answers from what it is given alone.
    """

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the run time in seconds that the job is predicted to have now, above `elapsed`.

        `predicted_run_time` is what was predicted at submission, however often it has been
        corrected since; `elapsed` is how many seconds the job has run, which are at least as many.
        The answer holds until the job outlives it too.
        """
