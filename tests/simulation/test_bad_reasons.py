"""A reason that cannot be true ends the run, with an error that says whose fault it is."""

from collections.abc import Sequence
from typing import Any

import pytest

from hpcsched.dispatching.decision import Decision, Reason
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import DecisionError
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from tests.builders import alike, easy, replay, traced

JOBS = (traced(1, 0, 1, 5), traced(2, 3, 1, 5))


class Explains:
    """A dispatcher that decides as another one, and gives prepared reasons in every round."""

    def __init__(self, reasons: Any) -> None:
        self._reasons = reasons
        self._other = easy()

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the other's decision with the reasons."""
        return self._other.dispatch(problem)._replace(reasons=self._reasons)


@pytest.mark.parametrize(
    ("reasons", "message"),
    [
        ((Reason(2, "no_room"),), "job 2 is given a reason, and was not in the queue"),
        ((Reason(1, "no_room"), Reason(1, "planned")), "job 1 is given two reasons"),
        ((Reason(1, "bored"),), "job 1 is given a reason of the kind 'bored'; there are: in_order"),
        (((1, "no_room"),), r"expected a reason, found \(1, 'no_room'\)"),
        ([Reason(1, "no_room")], "expected a tuple of reasons, found"),
        ((Reason(1, "no_room", time=1.5),), "job 1: expected whole numbers or None"),
        ((Reason(1, "no_room", job="2"),), "job 1: expected whole numbers or None"),
        ((Reason(1, "no_room", detail=None),), "job 1: expected whole numbers or None"),
    ],
)
def test_bad_reasons(reasons: Any, message: str) -> None:
    """Dispatcher, round and job are named."""
    with pytest.raises(DecisionError, match=f"^dispatcher tested, round 1: {message}"):
        replay(alike(1, core=1), Explains(reasons), JOBS)


class Hears(Observer):
    """Keeps the reasons of each round."""

    def __init__(self) -> None:
        self.given: list[Sequence[Reason]] = []

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Keep them."""
        self.given.append(reasons)


def test_reasons_are_passed_on() -> None:
    """An observer hears what the dispatcher said, where nothing else holds jobs back."""
    one, hears = (Reason(1, "in_order"),), Hears()
    replay(alike(1, core=1), Explains(one), JOBS[:1], [hears])
    assert hears.given == [one]


def test_jobs_may_be_left_out() -> None:
    """A dispatcher that explains nothing, or only some jobs, is at no fault."""
    assert replay(alike(1, core=1), Explains(()), JOBS).start_times == {1: 0, 2: 5}
    one = (Reason(1, "in_order"),)
    assert replay(alike(1, core=1), Explains(one), JOBS[:1]).start_times == {1: 0}
