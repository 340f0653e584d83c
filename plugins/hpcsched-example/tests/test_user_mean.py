"""The predictor `user-mean`."""

from functools import partial

from hpcsched.testing import check_predictor, make_jobs, make_system
from hpcsched_example.user_mean import UserMean

FOUR, SEVEN, NONE = (
    job
    for job, _ in make_jobs(
        make_system(),
        """
        job_id  requested_time  user
        1       100             4
        2       100             7
        3       100             -
        """,
    )
)


def test_keeps_to_the_protocol() -> None:
    """Predictions are whole, the same each time, and know nothing of the future."""
    check_predictor(partial(UserMean, 3))


def test_unknown_users() -> None:
    """Until a job of the user has ended, the requested time stands."""
    predictor = UserMean(2)
    predictor.observe(SEVEN, 10)
    assert predictor.predict(FOUR) == 100
    assert predictor.predict(NONE) == 100


def test_mean_of_the_last() -> None:
    """Only the last run times count, and the mean is rounded down."""
    predictor = UserMean(2)
    for run_time in (90, 10, 15):
        predictor.observe(FOUR, run_time)
    assert predictor.predict(FOUR) == 12


def test_bounds() -> None:
    """A prediction is at least 1 s and at most what was requested."""
    predictor = UserMean(1)
    predictor.observe(FOUR, 0)
    assert predictor.predict(FOUR) == 1
    predictor.observe(FOUR, 500)
    assert predictor.predict(FOUR) == 100
