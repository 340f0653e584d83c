"""`profile-confidence`: users who have been accurate are believed."""

import pytest

from hpcsched.prediction.predictors import RULES, ProfileConfidence, ProfileConfidenceParams
from tests.prediction.jobs import job


def predictor(**params: float) -> ProfileConfidence:
    """Return a predictor with these parameters."""
    return ProfileConfidence(ProfileConfidenceParams(**params))


@pytest.mark.parametrize(
    ("run_times", "predicted"),
    [
        ([], (1000, "requested_time")),
        ([800], (1000, "believed")),
        ([799], (799, "full")),
        ([700, 800, 900], (1000, "believed")),
        ([900, 800, 699], (699, "full")),
        ([100, 800, 800, 800], (1000, "believed")),
        ([1000, 1000, 1000, 100], (100, "full")),
        ([0, 0, 2400], (1000, "believed")),
    ],
    ids=[
        "nothing known", "one at the threshold", "one below", "three at it", "three below",
        "the first is past", "the last pulls down", "over the request counts in full",
    ],
)  # fmt: skip
def test_by_hand(run_times: list[int], predicted: tuple[int, str]) -> None:
    """The mean over up to three records decides, exactly at 0.8 too."""
    learns = predictor()
    for run_time in run_times:
        learns.observe(job(), run_time)
    assert learns.predict_by(job()) == predicted
    assert learns.predict(job()) == predicted[0]
    assert learns.rules == ("believed", *RULES)


def test_parameters() -> None:
    """One record and half of the request."""
    learns = predictor(records=1, threshold=0.5)
    for run_time, rule in ((499, "full"), (500, "believed"), (100, "full")):
        learns.observe(job(), run_time)
        assert learns.predict_by(job()).rule == rule


def test_otherwise_as_profile() -> None:
    """Someone who is not believed is predicted by the rules of profiles."""
    learns = predictor()
    learns.observe(job(name="job1"), 100)
    assert learns.predict_by(job(name="job2")) == (100, "full_prefix")
    assert learns.predict_by(job(name="other")) == (1000, "requested_time")


def test_jobs_without_a_user() -> None:
    """Nobody is believed, and nothing is learnt."""
    learns = predictor()
    learns.observe(job(user=None), 1000)
    assert learns.predict_by(job(user=None)) == (1000, "requested_time")
    assert len(learns) == 0


def test_bounded_by_users_too() -> None:
    """Of more users than there is room for, those heard of last are believed."""
    learns = predictor(memory=2)
    for user in (1, 2, 3):
        learns.observe(job(user=user), 1000)
        assert len(learns) <= 2
    assert [learns.predict_by(job(user=user)).rule for user in (1, 2, 3)] == [
        "requested_time", "believed", "believed",
    ]  # fmt: skip
