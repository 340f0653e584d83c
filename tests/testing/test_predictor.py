"""`check_predictor` accepts predictors that are right, and finds what is wrong with others."""

from itertools import count

import pytest

from hpcsched.errors import PluginError
from hpcsched.prediction.predictors import Actual, RequestedTime
from hpcsched.testing import check_predictor
from hpcsched.workload.job import Job


class Says:
    """Predicts what it is told to."""

    def __init__(self, predicted: object) -> None:
        self._predicted = predicted

    def predict(self, job: Job) -> object:
        """Return it."""
        return self._predicted

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class LastOfAll:
    """Predicts the run time that was seen last, of whomever."""

    def __init__(self) -> None:
        self._last = 1

    def predict(self, job: Job) -> int:
        """Return it."""
        return max(1, self._last)

    def observe(self, job: Job, run_time: int) -> None:
        """Remember it."""
        self._last = run_time


class Counts:
    """Predicts a number that grows from one replay to the next."""

    numbers = count(1)

    def predict(self, job: Job) -> int:
        """Return the next number."""
        return next(self.numbers)

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class Peeks:
    """Is given all run times by some back door, which opens at the third replay."""

    replays = count(1)

    def __init__(self) -> None:
        self._predicted = 1 if next(self.replays) < 4 else 2

    def predict(self, job: Job) -> int:
        """Return what came through the door."""
        return self._predicted

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


@pytest.mark.parametrize("make", [RequestedTime, LastOfAll])
def test_right(make) -> None:
    """What learns from jobs that have ended passes."""
    check_predictor(make)


@pytest.mark.parametrize("predicted", [2.5, None, True])
def test_no_whole_number(predicted: object) -> None:
    """What is no whole number is named with its job; a note says where."""
    with pytest.raises(
        (AssertionError, PluginError), match=rf"job \d+: expected a whole .*{predicted}"
    ) as caught:
        check_predictor(lambda: Says(predicted))
    assert caught.value.__notes__ == ["on sample workload 'one-slot', seed 0"]


@pytest.mark.parametrize(
    ("make", "when"),
    [(Counts, "when replayed again"), (Peeks, "when jobs that have not ended yet run for longer")],
)
def test_not_a_function_of_the_past(make, when: str) -> None:
    """A prediction may depend on nothing but the job and what has ended."""
    with pytest.raises(
        (AssertionError, PluginError), match=rf"job \d+: \d+ s predicted, and \d+ s {when}"
    ):
        check_predictor(make)


def test_an_oracle() -> None:
    """An oracle is refused: it is shown what others must not see."""
    with pytest.raises((AssertionError, PluginError), match="oracle"):
        check_predictor(Actual)
