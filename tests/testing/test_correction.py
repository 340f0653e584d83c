"""`check_correction` accepts corrections that are right, and finds what is wrong with others."""

from itertools import count

import pytest

from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Doubling, OneSecond, ToRequestedTime
from hpcsched.testing import check_correction
from hpcsched.workload.job import Job


class Says:
    """Answers what it is told to."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> object:
        """Return it."""
        return self._answer


class Repeats:
    """Says that the prediction was right."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return the prediction."""
        return predicted_run_time


class Counts:
    """Adds a number that grows from one question to the next, whoever is asked."""

    numbers = count(1)

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return what has elapsed and the next number."""
        return elapsed + next(self.numbers)


@pytest.mark.parametrize("make", [OneSecond, Doubling, ToRequestedTime])
def test_right(make) -> None:
    """The built-in ones pass."""
    check_correction(make)


@pytest.mark.parametrize("answer", [0, 1, 1e9, None, True])
def test_no_whole_number(answer: object) -> None:
    """What is no whole number above the time that has elapsed is named with its job."""
    with pytest.raises(PluginError, match=r"job \d+: expected a whole number") as caught:
        check_correction(lambda: Says(answer))
    assert caught.value.__notes__ == [
        "1 s predicted, 1 s elapsed",
        "on sample workload 'one-slot', seed 0",
    ]


def test_what_has_run_out_already() -> None:
    """The prediction itself is no answer."""
    with pytest.raises((AssertionError, PluginError), match=r"seconds above \d+, found \d+"):
        check_correction(Repeats)


def test_not_the_same_again() -> None:
    """A correction may depend on nothing but what it is asked."""
    with pytest.raises(
        (AssertionError, PluginError), match=r"\d+ s answered, and \d+ s when asked again"
    ):
        check_correction(Counts)
