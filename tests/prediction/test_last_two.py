"""`last-two`: the mean of the user's last two run times."""

import pytest

from hpcsched.prediction.predictors import LastTwo, LastTwoParams
from tests.prediction.jobs import job


def predictor(memory: int = 10) -> LastTwo:
    """Return a predictor that remembers so many users."""
    return LastTwo(LastTwoParams(memory=memory))


@pytest.mark.parametrize(
    ("run_times", "predicted"),
    [
        ([], (1000, "requested_time")),
        ([100], (1000, "requested_time")),
        ([100, 200], (150, "last_two")),
        ([900, 100, 201], (150, "last_two")),
        ([800, 1400], (1000, "last_two")),
        ([0, 0], (1, "last_two")),
    ],
    ids=["no record", "one record", "two", "the last of three, rounded down", "capped", "least"],
)
def test_by_hand(run_times: list[int], predicted: tuple[int, str]) -> None:
    """The mean of the last two run times that were seen, from 1 s to the requested time."""
    learns = predictor()
    for run_time in run_times:
        learns.observe(job(), run_time)
    assert learns.predict_by(job()) == predicted
    assert learns.predict(job()) == predicted[0]


def test_users_are_apart() -> None:
    """One user's jobs tell nothing about another's."""
    learns = predictor()
    for run_time in (100, 200):
        learns.observe(job(user=1), run_time)
        learns.observe(job(user=2), 10 * run_time)
    learns.observe(job(user=3), 5)
    assert [learns.predict(job(user=user, requested_time=9000)) for user in (1, 2, 3)] == [
        150, 1500, 9000,
    ]  # fmt: skip


def test_jobs_without_a_user() -> None:
    """They are predicted by what they request, and nothing is learnt from them."""
    learns = predictor()
    for _ in range(3):
        learns.observe(job(user=None), 10)
    assert learns.predict_by(job(user=None)) == (1000, "requested_time")
    assert len(learns) == 0


def test_the_user_whose_last_job_ended_longest_ago_is_forgotten() -> None:
    """Of three users, two are remembered: those that were heard of last."""
    learns = predictor(memory=2)
    for user in (1, 1, 2, 2, 1, 3, 3):
        learns.observe(job(user=user), 10)
        assert len(learns) <= 2
    assert [learns.predict(job(user=user)) for user in (1, 2, 3)] == [10, 1000, 10]
