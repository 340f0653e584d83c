"""Predictors and corrections give the same answer, or the same error, to all that ask them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Predictor, PredictorDriver, corrected_run_time
from hpcsched.prediction.predictors import Actual, ConstantFactor, Inflated
from hpcsched.studies.predictor_evaluation import predict_trace
from hpcsched.workload.job import Job
from hpcsched_slurm.live.following import Predictions
from tests.builders import alike, easy, replay, traced

TRACED = traced(7, 0, 1, 3)


class Says:
    """A predictor that says what it is made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, job: Job) -> int:
        """Return it, or raise it."""
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: int = self.answer
        return answer

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


def simulated(predictor: Predictor) -> int:
    """Return the prediction that a simulation goes by."""
    recorder = replay(alike(1, core=1), easy(), [TRACED], predictor=predictor, predictor_name="it")
    return int(recorder.jobs[7].predicted_run_time)


def evaluated(predictor: Predictor) -> int:
    """Return the prediction that an evaluation goes by."""
    return int(predict_trace([TRACED], {"it": predictor}).predicted["it"].seconds[0])


def live(predictor: Predictor) -> int:
    """Return the prediction that a live run goes by."""
    return Predictions(predictor, "it").of(TRACED.job)


EVERYWHERE = pytest.mark.parametrize("ask", [simulated, evaluated, live])


@EVERYWHERE
@pytest.mark.parametrize("answer", [59.9, 59.0, None, "59", True, float("nan"), np.int64(59)])
def test_an_answer_that_is_no_whole_number(ask: Callable[[Predictor], int], answer: object) -> None:
    """It is the same error everywhere, with the plugin, the job, and what was expected."""
    with pytest.raises(PluginError) as caught:
        ask(Says(answer))
    expected = f"predictor it, job 7: expected a whole number of seconds, found {answer!r}"
    assert str(caught.value) == expected


@EVERYWHERE
def test_a_predictor_that_raises(ask: Callable[[Predictor], int]) -> None:
    """It is the same error everywhere."""
    with pytest.raises(PluginError, match=r"^predictor it, job 7: raised KeyError: 'lost'$"):
        ask(Says(KeyError("lost")))


@EVERYWHERE
@pytest.mark.parametrize(("answer", "seconds"), [(59, 59), (1, 1), (0, 1), (-5, 1)])
def test_whole_numbers(ask: Callable[[Predictor], int], answer: int, seconds: int) -> None:
    """What is below a second counts as one."""
    assert ask(Says(answer)) == seconds


@EVERYWHERE
def test_an_inner_predictor(ask: Callable[[Predictor], int]) -> None:
    """What `inflated` multiplies must be whole too, also where its cap would hide that."""
    inflated = Inflated(Says(59.9), ConstantFactor(2), cap=True)
    with pytest.raises(PluginError, match=r"job 7: .*a whole number of seconds, found 59\.9$"):
        ask(inflated)


def test_an_oracle() -> None:
    """It alone is shown the real run time; without a name, messages have the class."""
    assert PredictorDriver(Actual()).predict(TRACED.job, 3) == 3
    with pytest.raises(PluginError, match=r"^predictor Says, job 7: "):
        PredictorDriver(Says(2.5)).predict(TRACED.job, 3)


class Corrects:
    """A correction that says what it is made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return it."""
        answer: int = self.answer
        return answer


@pytest.mark.parametrize("answer", [15, 16.5, None])
def test_a_correction(answer: object) -> None:
    """An answer must be whole and above the seconds elapsed."""
    expected = "correction Corrects, job 7: expected a whole number of seconds above 15, found"
    with pytest.raises(PluginError, match=expected):
        corrected_run_time(Corrects(answer), TRACED.job, 10, 15)
    assert corrected_run_time(Corrects(16), TRACED.job, 10, 15) == 16
