"""Predictor that believes accurate users, and uses profiles otherwise."""

from fractions import Fraction

from pydantic import Field

from hpcsched.prediction.predictor import Prediction, capped
from hpcsched.prediction.profile import RULES, Profile, ProfileParams
from hpcsched.prediction.recent import Recent
from hpcsched.registration import builtin
from hpcsched.workload.job import Job

BELIEVED = "believed"


class ProfileConfidenceParams(ProfileParams):
    """Parameters of the predictor `profile-confidence`."""

    memory: int = Field(
        100_000,
        ge=1,
        description="How many records are remembered, of which a completed job writes up to six,"
        " and beside them how many users; what was written longest ago is forgotten.",
    )
    records: int = Field(
        3, ge=1, description="Of how many last jobs of a user the accuracies are averaged."
    )
    threshold: float = Field(
        0.8,
        gt=0,
        description="The mean of run time over requested time from which on a user is believed.",
    )


@builtin(
    "predictor",
    "profile-confidence",
    ProfileConfidenceParams,
    summary="the requested time of users who have been accurate, and otherwise as profile",
)
class ProfileConfidence:
    """Predictor of the requested time for accurate users, and by `Profile` otherwise.

    A user's accuracy is run time over requested time, averaged over the last `records` completed
    jobs, or over as many as there are. From the `threshold` on, the requested time is predicted.
    The comparison is exact, with the threshold as it is written.

    Source: Galleguillos, PhD thesis, 2020, section 4.2 and Algorithm 3 (D2), with 3 records and a
    threshold of 80 %. It averages all records of a user with fewer.
    """

    rules = (BELIEVED, *RULES)

    def __init__(self, params: ProfileConfidenceParams) -> None:
        self._profile = Profile(params)
        self._records = params.records
        self._threshold = Fraction(repr(params.threshold))  # 0.8 is 4/5, not the nearest float
        self._accuracies: Recent[int, tuple[Fraction, ...]] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction, and the rule: `believed`, or one of the rules of profiles."""
        known = None if job.user is None else self._accuracies.get(job.user)
        if known and sum(known) >= self._threshold * len(known):
            return Prediction(capped(job.requested_time, job), BELIEVED)
        return self._profile.predict_by(job)

    def predict(self, job: Job) -> int:
        """Return the predicted run time."""
        return self.predict_by(job).seconds

    def observe(self, job: Job, run_time: int) -> None:
        """Remember the run time by the job's profile, and how accurate the user was."""
        self._profile.observe(job, run_time)
        if job.user is not None:
            known = self._accuracies.get(job.user) or ()
            accuracy = Fraction(run_time, max(1, job.requested_time))
            self._accuracies.put(job.user, (*known, accuracy)[-self._records :])

    def __len__(self) -> int:
        """Return the larger of the numbers of remembered records and users."""
        return max(len(self._profile), len(self._accuracies))
