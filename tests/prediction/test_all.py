"""What holds for every predictor that learns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.prediction.expected_predictor import Expected
from hpcsched.prediction.predictors import (
    ConstantFactor,
    Inflated,
    LastTwo,
    LastTwoParams,
    Profile,
    ProfileConfidence,
    ProfileConfidenceParams,
    ProfileParams,
    QuantileOfRatios,
    RequestedTime,
)
from hpcsched.testing import check_predictor
from tests.prediction.jobs import GuardedJob, job
from tests.strategies import tries

MEMORY = 7


def _around(inner: Any, multiplier: Any) -> Inflated:
    return Inflated(inner, multiplier, cap=True)


PREDICTORS: dict[str, Callable[[], Any]] = {
    "requested-time": RequestedTime,
    "expected": Expected,
    "last-two": lambda: LastTwo(LastTwoParams(memory=MEMORY)),
    "profile": lambda: Profile(ProfileParams(memory=MEMORY)),
    "profile-confidence": lambda: ProfileConfidence(ProfileConfidenceParams(memory=MEMORY)),
    "inflated by a factor": lambda: _around(PREDICTORS["last-two"](), ConstantFactor(1.3)),
    "inflated by a quantile": lambda: _around(
        PREDICTORS["profile"](), QuantileOfRatios(0.9, MEMORY, MEMORY)
    ),
}
each = pytest.mark.parametrize("name", PREDICTORS)


class Event(NamedTuple):
    """A job that is submitted or, with a run time, has completed."""

    job: GuardedJob
    run_time: int | None


@st.composite
def histories(draw) -> list[Event]:
    """Draw submissions and completions; some jobs never complete, in any order."""
    events = []
    names = st.sampled_from([None, "a", "a1", "a2", "b", "7"])
    few = st.sampled_from([None, 1, 2])
    waiting: list[GuardedJob] = []
    for number in range(draw(st.integers(1, 40))):
        new = job(
            number,
            draw(st.sampled_from([1, 60, 3600])),
            user=draw(st.sampled_from([None, 1, 2, 3, 4, 5, 6, 7, 8, 9])),
            name=draw(names),
            application=draw(few),
            queue=draw(few),
            units=draw(st.integers(1, 2)),
        )
        events.append(Event(new, None))
        waiting.append(new)
        if draw(st.booleans()):
            ended = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
            events.append(Event(ended, draw(st.sampled_from([0, 1, 50, 3600, 5000]))))
    return events


def answers(predictor: Any, events: list[Event]) -> list[int]:
    """Return what a predictor says of the jobs that are submitted, as events come."""
    said = []
    for event in events:
        if event.run_time is None:
            said.append(predictor.predict(event.job))
        else:
            predictor.observe(event.job, event.run_time)
    return said


@each
@tries(60)
@given(events=histories())
def test_within_bounds(name: str, events: list[Event]) -> None:
    """Whole seconds, from 1 to the requested time; nothing is asked that is not known yet."""
    predicted = answers(PREDICTORS[name](), events)
    submitted = [event.job for event in events if event.run_time is None]
    for seconds, new in zip(predicted, submitted, strict=True):
        assert type(seconds) is int
        assert 1 <= seconds <= new.requested_time


@each
@tries(30)
@given(events=histories())
def test_the_same_again(name: str, events: list[Event]) -> None:
    """Equal histories get equal answers."""
    assert answers(PREDICTORS[name](), events) == answers(PREDICTORS[name](), events)


@pytest.mark.parametrize("name", ["last-two", "profile", "profile-confidence"])
@tries(60)
@given(events=histories())
def test_asking_changes_nothing(name: str, events: list[Event]) -> None:
    """What is asked twice is answered alike, whatever else is asked; memory stays in its bounds."""
    once, often = PREDICTORS[name](), PREDICTORS[name]()
    for new, run_time in events:
        if run_time is None:
            for other in events:
                often.predict(other.job)
            assert often.predict_by(new) == once.predict_by(new)
        else:
            once.observe(new, run_time)
            often.observe(new, run_time)
            assert len(once) == len(often) <= MEMORY


@each
def test_keeps_to_the_protocol(name: str) -> None:
    """In replays too, and without hearing of jobs that have not ended."""
    check_predictor(PREDICTORS[name])


def test_the_guard() -> None:
    """A job of these tests raises where it is asked for its fate, so the above would fail."""
    with pytest.raises(AssertionError, match="asked job 1 for its run_time"):
        _ = job(1).run_time
