"""Predictor `profile-confidence`: requested time of accurate users, profile of the others."""

from fractions import Fraction

from pydantic import Field

from hpcsched.prediction.predictor import Prediction, capped
from hpcsched.prediction.profile import RULES, Profile, ProfileParams
from hpcsched.prediction.recent import Recent
from hpcsched.registration import builtin
from hpcsched.workload.job import Job

BELIEVED = "believed"


class ProfileConfidenceParams(ProfileParams):
    """Parameters of `profile-confidence`: memory, number of records, and threshold of accuracy."""

    memory: int = Field(
        100_000,
        ge=1,
        description="Maximum number of records, up to six for each completed job, and of users;"
        " the oldest is forgotten.",
    )
    records: int = Field(
        3, ge=1, description="Number of the user's last jobs in the mean accuracy."
    )
    threshold: float = Field(
        0.8,
        gt=0,
        description="Mean of run time over requested time from which on the user's requested time"
        " is predicted.",
    )


@builtin(
    "predictor",
    "profile-confidence",
    ProfileConfidenceParams,
    summary="the requested time of users who have been accurate, and otherwise as profile",
)
class ProfileConfidence:
    """Predictor of the requested time for accurate users, and as `Profile` for the others.

    A user's accuracy is run time over requested time, averaged over the last `records` completed
    jobs, or over as many as there are. At or above the `threshold` the prediction is the requested
    time. The comparison is exact, with the threshold as it is written.

    Notes
    -----
    Source: Galleguillos, PhD thesis, 2020, section 4.2 and Algorithm 3 (D2), with 3 records and a
    threshold of 80 %. It averages over the records there are where a user has fewer.
    """

    rules = (BELIEVED, *RULES)

    def __init__(self, params: ProfileConfidenceParams) -> None:
        self._profile = Profile(params)
        self._records = params.records
        self._threshold = Fraction(repr(params.threshold))  # 0.8 is 4/5, not the nearest float
        self._accuracies: Recent[int, tuple[Fraction, ...]] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule.

        Returns
        -------
        Prediction
            Seconds, and `believed` or one of the rules of `Profile`.
        """
        known = None if job.user is None else self._accuracies.get(job.user)
        # Multiplied out, so that a mean of exactly 80 % is believed: no division, no rounding.
        if known and sum(known) >= self._threshold * len(known):
            return Prediction(capped(job.requested_time, job), BELIEVED)
        return self._profile.predict_by(job)

    def predict(self, job: Job) -> int:
        """Return the predicted run time."""
        return self.predict_by(job).seconds

    def observe(self, job: Job, run_time: int) -> None:
        """Record the run time by the job's profile, and the accuracy of the user's request."""
        self._profile.observe(job, run_time)
        if job.user is not None:
            known = self._accuracies.get(job.user) or ()
            # A requested time of 0 s counts as 1 s, which avoids a division by zero.
            accuracy = Fraction(run_time, max(1, job.requested_time))
            self._accuracies.put(job.user, (*known, accuracy)[-self._records :])

    def __len__(self) -> int:
        """Return the larger of the numbers of remembered records and users."""
        return max(len(self._profile), len(self._accuracies))
