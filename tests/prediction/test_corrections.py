"""The built-in corrections, by hand."""

import pytest

from hpcsched.prediction.predictor import Correction, Doubling, OneSecond, ToRequestedTime
from tests.prediction.jobs import job


@pytest.mark.parametrize(
    ("correction", "elapsed", "answer"),
    [
        (OneSecond(), 10, 11),
        (OneSecond(), 100, 101),
        (Doubling(), 10, 20),
        (Doubling(), 19, 20),
        (Doubling(), 20, 40),
        (Doubling(), 79, 80),
        (Doubling(), 80, 100),
        (Doubling(), 99, 100),
        (Doubling(), 100, 160),
        (Doubling(), 160, 320),
        (ToRequestedTime(), 10, 100),
        (ToRequestedTime(), 99, 100),
        (ToRequestedTime(), 100, 101),
        (ToRequestedTime(), 200, 201),
    ],
)
def test_built_in(correction: Correction, elapsed: int, answer: int) -> None:
    """A job of 100 s requested and 10 s predicted, after some time."""
    assert correction.correct(job(requested_time=100), 10, elapsed) == answer


@pytest.mark.parametrize(
    ("correction", "answer"), [(OneSecond(), 2), (Doubling(), 2), (ToRequestedTime(), 2)]
)
def test_the_shortest_prediction(correction: Correction, answer: int) -> None:
    """A second that was requested and predicted is over: the end is another second away."""
    assert correction.correct(job(requested_time=1), 1, 1) == answer
