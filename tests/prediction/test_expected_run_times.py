"""Expected run times, by hand and against a naive reference."""

import copy
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import ExpectedRunTimes
from hpcsched.prediction.expected_predictor import Expected
from tests.prediction.jobs import job as asking

UNKNOWN = -1


def test_nothing_is_learnt() -> None:
    """Jobs are expected to run as long as predicted."""
    assert ExpectedRunTimes().share(1, 100) == 1.0
    assert ExpectedRunTimes().expected(1, 100) == 100


def test_one_job() -> None:
    """Each average of one job counts for a third, that of the coarser level for the rest."""
    learnt = ExpectedRunTimes()
    learnt.learn(1, 100, 50)
    of_class = (0.5 + 2 * 1) / 3
    of_user = (0.5 + 2 * of_class) / 3
    of_prediction = (0.5 + 2 * of_user) / 3
    # Predictions from 64 to 127 are of one class.
    assert learnt.share(2, 90) == learnt.share(UNKNOWN, 64) == of_class
    assert learnt.share(2, 128) == 1.0
    assert learnt.share(1, 90) == of_user
    assert learnt.share(1, 100) == of_prediction == pytest.approx(0.6481, abs=1e-4)
    assert learnt.expected(1, 100) == 65
    assert learnt.expected(1, 1) == 1


def test_second_job() -> None:
    """The first job counts for 0.95 of the second."""
    learnt = ExpectedRunTimes()
    learnt.learn(1, 100, 50)
    learnt.learn(1, 100, 25)
    assert learnt.share(2, 90) == pytest.approx((0.95 * 0.5 + 0.25 + 2) / (1.95 + 2))


def test_unknown_users_are_not_one_user() -> None:
    """Without users, jobs are alike by prediction."""
    learnt = ExpectedRunTimes()
    learnt.learn(UNKNOWN, 100, 50)
    of_class = (0.5 + 2) / 3
    assert learnt.share(UNKNOWN, 90) == learnt.share(1, 100) == of_class
    assert learnt.share(UNKNOWN, 100) == (0.5 + 2 * of_class) / 3


def test_copies_learn_by_themselves() -> None:
    """What a copy learns is unknown to the original."""
    learnt = ExpectedRunTimes()
    copied = copy.deepcopy(learnt)
    copied.learn(1, 100, 50)
    assert copied.share(1, 100) < learnt.share(1, 100) == 1.0


JOBS = st.tuples(st.integers(-1, 2), st.integers(1, 9), st.integers(0, 12))
"""User, prediction and run time."""


def reference(past: Sequence[tuple[int, int, int]], user: int, predicted: int) -> float:
    """Return a job's expected share: at each level the weighted mean of all earlier jobs."""
    of_user = [job for job in past if job[0] == user]
    levels = [
        [job for job in past if len(bin(job[1])) == len(bin(predicted))],
        of_user if user != UNKNOWN else [],
        [job for job in of_user if job[1] == predicted],
    ]
    mean = 1.0
    for alike in levels:
        shares = [min(max(run_time, 1), asked) / asked for _, asked, run_time in alike]
        weights = [0.95**age for age in reversed(range(len(shares)))]
        total = sum(w * share for w, share in zip(weights, shares, strict=True))
        mean = (total + 2 * mean) / (sum(weights) + 2)
    return mean


@given(st.lists(JOBS, max_size=30), JOBS)
def test_reference(past: list[tuple[int, int, int]], job: tuple[int, int, int]) -> None:
    """Averages that are kept are those over the whole past."""
    learnt = ExpectedRunTimes()
    for one in past:
        learnt.learn(*one)
    share = learnt.share(*job[:2])
    assert share == pytest.approx(reference(past, *job[:2]), rel=1e-12)
    assert 0 < share <= 1


@given(st.lists(JOBS, max_size=30), JOBS)
def test_exact_predictions(past: list[tuple[int, int, int]], job: tuple[int, int, int]) -> None:
    """Where all predictions are exact the share is 1, to the bit."""
    learnt = ExpectedRunTimes()
    for user, predicted, _ in past:
        learnt.learn(user, predicted, predicted)
    assert learnt.share(*job[:2]) == 1.0


def test_predictor() -> None:
    """The predictor of that name asks about the user and the requested time."""
    learns, learnt = Expected(), ExpectedRunTimes()
    assert learns.predict(asking(requested_time=0)) == 1
    for user, run_time in [(7, 300), (7, 500), (None, 20)]:
        learns.observe(asking(user=user), run_time)
        learnt.learn(UNKNOWN if user is None else user, 1000, run_time)
    for user in (7, 8, None):
        number = UNKNOWN if user is None else user
        assert learns.predict(asking(user=user)) == learnt.expected(number, 1000)
