"""Predictors are asked about a trace, and learn from what has completed by then."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Prediction
from hpcsched.prediction.predictors import (
    Actual,
    InflatedOracle,
    LastTwo,
    LastTwoParams,
    RequestedTime,
)
from hpcsched.scenario import load_scenario
from hpcsched.studies.predictor_evaluation import choose, predict_trace, title
from hpcsched.workload.job import TracedJob
from tests.builders import traced
from tests.strategies import tries


class Diary:
    """Predicts 10 s, and notes what it is asked and told."""

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...]] = []

    def predict(self, job) -> int:
        """Return 10."""
        self.entries.append(("predict", job.job_id))
        return 10

    def observe(self, job, run_time: int) -> None:
        """Note it."""
        self.entries.append(("observe", job.job_id, run_time))


class Says:
    """Predicts what it is told to, by a rule of its own."""

    rules = ("guess", "other")

    def __init__(self, said: object, rule: str = "other") -> None:
        self._said, self._rule = said, rule

    def predict_by(self, job) -> Any:
        """Return it."""
        return Prediction(self._said, self._rule)  # type: ignore[arg-type]

    def predict(self, job) -> Any:
        """Return it without the rule."""
        return self._said

    def observe(self, job, run_time: int) -> None:
        """Learn nothing, or fail on run times of 13 s."""
        if run_time == 13:
            raise ValueError("unlucky")


def test_by_hand() -> None:
    """At each instant what completes is learnt from first, by number; then comes what is new.

    Jobs 3 and 2 complete at 10, when job 4 is submitted. Job 4 takes no time, which job 5 of the
    same instant does not hear of, and job 6 does. Job 1 completes after the last submission.
    """
    diary = Diary()
    jobs = [
        traced(1, 0, 1, 99), traced(3, 4, 1, 6), traced(2, 5, 1, 5), traced(4, 10, 1, 0),
        traced(5, 10, 1, 50), traced(6, 11, 1, 1),
    ]  # fmt: skip
    predictions = predict_trace(jobs, {"diary": diary})
    assert diary.entries == [
        ("predict", 1), ("predict", 3), ("predict", 2), ("observe", 2, 5), ("observe", 3, 6),
        ("predict", 4), ("predict", 5), ("observe", 4, 0), ("predict", 6),
    ]  # fmt: skip
    assert predictions.run_times.tolist() == [99, 6, 5, 0, 50, 1]
    assert predictions.predicted["diary"].seconds.tolist() == [10] * 6
    assert predictions.predicted["diary"].rules == ()


@tries(100)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 9)), max_size=30),
    st.booleans(),
)
def test_nothing_is_learnt_before_it_completes(
    drawn: list[tuple[int, int, int]], kill: bool
) -> None:
    """Each completion comes after its own instant, before later submissions, in order of time."""
    jobs: list[TracedJob] = []
    now = 0
    for number, (gap, run_time, requested_time) in enumerate(drawn):
        now += gap
        jobs.append(traced(number, now, 1, run_time, requested_time=requested_time))
    diary = Diary()
    predict_trace(jobs, {"diary": diary}, kill_at_requested_time=kill)
    ends = {
        job.job_id: job.submit_time + (min(run_time, job.requested_time) if kill else run_time)
        for job, run_time in jobs
    }
    heard: list[int] = []
    for what, number, *_ in diary.entries:
        if what == "observe":
            heard.append(number)
            continue
        now = jobs[number].job.submit_time
        assert all(ends[other] <= now for other in heard)
        due = {job.job_id for job, _ in jobs if job.submit_time < now and ends[job.job_id] <= now}
        assert due <= set(heard)
    assert all(ends[one] <= ends[other] for one, other in pairwise(heard))
    assert len(heard) == len(set(heard))


def test_killed_jobs() -> None:
    """Where the system kills at the requested time, that is how long a job runs."""
    diary = Diary()
    jobs = [traced(1, 0, 1, 500, requested_time=20), traced(2, 20, 1, 5)]
    predictions = predict_trace(jobs, {"diary": diary}, kill_at_requested_time=True)
    assert predictions.run_times.tolist() == [20, 5]
    assert ("observe", 1, 20) in diary.entries


def test_oracles_and_rules() -> None:
    """Only an oracle is shown run times; rules are kept by number; 0 s is taken for 1 s."""
    jobs = [traced(number, number, 1, 5, requested_time=50, user=1) for number in range(20)]
    predictors = {"right": Actual(), "says": Says(0), "l2": LastTwo(LastTwoParams())}
    predicted = predict_trace(jobs, predictors).predicted
    assert predicted["right"].seconds.tolist() == [5] * 20
    assert predicted["says"].seconds.tolist() == [1] * 20
    assert predicted["says"].rules == ("guess", "other")
    assert predicted["says"].rule == ["other"] * 20
    # Jobs 0 and 1 have completed at 5 and 6.
    two, request = predicted["l2"].rules
    assert predicted["l2"].seconds.tolist() == [50] * 6 + [5] * 14
    assert predicted["l2"].rule == [request] * 6 + [two] * 14


@pytest.mark.parametrize(
    ("predictor", "message"),
    [
        (Says(2.5), "predictor it, job 1: expected a whole number of seconds, found 2.5"),
        (
            Says(9, "third"),
            "predictor it, job 1: expected one of its rules, guess, other, found 'third'",
        ),
        (Says(9), "predictor it, job 1: raised ValueError: unlucky"),
    ],
)
def test_predictors_at_fault(predictor: Says, message: str) -> None:
    """One line says which, and at which job."""
    with pytest.raises(PluginError, match=f"^{message}$"):
        predict_trace([traced(1, 0, 1, 13), traced(2, 100, 1, 1)], {"it": predictor})


def test_jobs_out_of_order() -> None:
    """A source at fault is named, as in a run."""
    with pytest.raises(PluginError, match=r"job 2 is submitted at 4, before .* at 5"):
        predict_trace([traced(1, 5, 1, 1), traced(2, 4, 1, 1)], {})


def test_numbers_that_come_twice() -> None:
    """Jobs of the same number and end are never compared with each other."""
    jobs = [traced(1, 0, 1, 5, name=None), traced(1, 0, 1, 5, name="a"), traced(2, 9, 1, 1)]
    assert len(predict_trace(jobs, {"diary": Diary()}).run_times) == 3


SCENARIO = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        ("last-two", "last-two"),
        ("{name: last-two, memory: 10000}", "last-two"),
        ("{name: last-two, memory: 5}", "last-two(memory=5)"),
        ("{name: inflated, of: last-two, factor: 1.5}", "inflated(of=last-two, factor=1.5)"),
        (
            "{name: inflated, cap: true, of: {name: last-two, memory: 5}, quantile: 0.9}",
            "inflated(of=last-two(memory=5), quantile=0.9, cap=true)",
        ),
    ],
)
def test_title(choice: str, shown: str) -> None:
    """The name, with what is not as by default."""
    assert title(load_scenario(SCENARIO, [f"predictor={choice}"]).predictor) == shown


def test_what_is_chosen_by_default_is_not_shown() -> None:
    """A default that selects a plugin is its name; with parameters of its own it is shown."""
    own = load_scenario(SCENARIO, ["dispatcher=easy"])
    assert title(own.dispatcher) == "easy"
    other = load_scenario(SCENARIO, ["dispatcher={name: easy, allocator: best-fit}"])
    assert title(other.dispatcher) == "easy(allocator=best-fit)"


def test_order_and_no_repetition() -> None:
    """The scenario's own, those that are named, and the baseline, each choice once."""
    named = "requested-time, {name: inflated, of: actual, factor: 2}, last-two, last-two"
    chosen = choose(SCENARIO, ["predictor=actual"], named)
    assert chosen.scenario.predictor.plugin_name == "actual"
    assert [(name, type(one)) for name, one in chosen.predictors.items()] == [
        ("actual", Actual),
        ("requested-time", RequestedTime),
        ("inflated(of=actual, factor=2.0)", InflatedOracle),
        ("last-two", LastTwo),
    ]
    assert next(chosen.source.jobs()).job.job_id == 1


def test_nothing_named() -> None:
    """The scenario's own and the baseline, which may be the same."""
    assert list(choose(SCENARIO).predictors) == ["requested-time"]
    assert list(choose(SCENARIO, ["predictor=last-two"]).predictors) == [
        "last-two", "requested-time",
    ]  # fmt: skip
