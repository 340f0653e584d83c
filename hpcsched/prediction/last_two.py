"""Predictor `last-two`: mean run time of the user's last two jobs."""

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.prediction.predictor import REQUESTED_TIME, Prediction, capped
from hpcsched.prediction.recent import Recent
from hpcsched.registration import builtin
from hpcsched.workload.job import Job

LAST_TWO = "last_two"


class LastTwoParams(Params):
    """Parameters of `last-two`: the size of its memory."""

    memory: int = Field(
        10_000,
        ge=1,
        description="Number of remembered users; the one with the oldest last job is forgotten.",
    )


@builtin(
    "predictor",
    "last-two",
    LastTwoParams,
    summary="the mean run time of the user's last two jobs",
)
class LastTwo:
    """Predictor of the mean run time of the user's last two completed jobs.

    *Last* is by order of completion. The mean is rounded down to whole seconds and capped by the
    requested time. With fewer than two completed jobs of the user, the prediction is the requested
    time; likewise for jobs without a user, from which nothing is learnt.

    Notes
    -----
    Source: Tsafrir, Etsion and Feitelson, *Backfilling using system-generated predictions rather
    than user runtime estimates*, IEEE TPDS 18(6), 2007; the thesis that compares it with profiles
    calls it L2 (Galleguillos, 2020, section 4.2).
    """

    rules = (LAST_TWO, REQUESTED_TIME)

    def __init__(self, params: LastTwoParams) -> None:
        # By user, the run times of the last two jobs, the last first; None before the second.
        self._run_times: Recent[int, tuple[int, int | None]] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule."""
        known = None if job.user is None else self._run_times.get(job.user)
        if known is None or known[1] is None:
            return Prediction(capped(job.requested_time, job), REQUESTED_TIME)
        # Rounded down, as in the source; capped, since a job is killed at its requested time.
        return Prediction(capped((known[0] + known[1]) // 2, job), LAST_TWO)

    def predict(self, job: Job) -> int:
        """Return the predicted run time."""
        return self.predict_by(job).seconds

    def observe(self, job: Job, run_time: int) -> None:
        """Record a run time as the user's last.

        Parameters
        ----------
        job
            The completed job; one without a user is ignored.
        run_time
            Its real run time in seconds.
        """
        if job.user is not None:
            known = self._run_times.get(job.user)
            self._run_times.put(job.user, (run_time, known[0] if known else None))

    def __len__(self) -> int:
        """Return the number of remembered users."""
        return len(self._run_times)
