"""Solving a model again when what starts now found no nodes, and types of answers."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from cpmpy.transformations.get_variables import get_variables_model

from hpcsched.dispatching.cp.backends.backend import Budget, Outcome, Session
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulation import BuiltModel
from hpcsched.dispatching.cp.formulations.joint_now import joint_now
from hpcsched.dispatching.cp.solver_process import REPAIRS, Answer, Task, checked_answer, solve
from hpcsched.dispatching.planning.model_data import ModelData, Plan

NONE = np.zeros(0, dtype=np.int64)
DATA = ModelData(
    units=np.array([1, 1, 1]),
    requests=np.array([[2], [2], [2]]),
    run_times=np.array([1, 1, 1]),
    capacity=np.array([[3], [3]]),
    room=np.ones((3, 2), dtype=np.int64),
    allocated_until=NONE,
    allocated_on=NONE,
    allocated=np.zeros((0, 1), dtype=np.int64),
    weights=np.array([[1, 1, 1]]),
    free=np.zeros((1, 3), dtype=np.int64),
    makespan=0,
    horizon=3,
)
"""Six cores for three jobs of two cores each, but on two nodes of three."""


class Lasting(NamedTuple):
    """CP-SAT, whose session answers so many times and then forgets all."""

    answers: int
    deterministic: bool = True
    largest: int = 1 << 60
    largest_objective: int = 1 << 50

    def check_installed(self) -> None:
        """Do nothing."""

    def load(self, built: BuiltModel) -> "LastingSession":
        """Return a session."""
        return LastingSession(OrTools().load(built), built, self.answers)


class LastingSession:
    """Passes on what a session says, so many times."""

    def __init__(self, session: Session, built: BuiltModel, answers: int) -> None:
        self._session, self._built, self._left = session, built, answers

    def add(self, constraint: Any) -> None:
        """Add a constraint."""
        self._session.add(constraint)

    def solve(self, limits: Any, hint: Any) -> Outcome:
        """Solve, or empty the variables and say that nothing is known."""
        if not self._left:
            for variable in get_variables_model(self._built.model):
                variable.clear()
            return Outcome("unknown")
        self._left -= 1
        return self._session.solve(limits, hint)


def test_solved_again_without_the_pattern_that_found_no_nodes() -> None:
    """By count three jobs start now; two do, once that is forbidden. The bound stays the first."""
    answer = solve(Task(joint_now(), DATA, OrTools(), Budget(10)))
    assert answer.plan is not None
    assert sorted(answer.plan.starts) == [0, 0, 1]
    assert (answer.plan.placed.sum(axis=1) == (answer.plan.starts == 0)).all()
    assert (answer.status, answer.objective, answer.bound) == ("feasible", 1, 0)


@pytest.mark.parametrize("answers", range(1, REPAIRS + 1))
def test_the_last_answer_stands_where_there_is_no_other(answers: int) -> None:
    """What the solver said before it fell silent is the plan, whatever is left in the variables."""
    lasting = solve(Task(joint_now(), DATA, Lasting(answers), Budget(10)))
    assert lasting.plan is not None
    starts = [0, 0, 0] if answers == 1 else [0, 0, 1]
    assert sorted(lasting.plan.starts) == starts
    assert lasting.objective == sum(starts)


def test_no_answer_at_all() -> None:
    """There is no plan where there never was one."""
    answer = solve(Task(joint_now(), DATA, Lasting(0), Budget(10)))
    assert (answer.status, answer.plan, answer.objective) == ("unknown", None, None)


@pytest.mark.parametrize("plan", [([0], [[1]]), Plan(*np.zeros((2, 1, 1)))])
def test_a_plan_is_made_of_whole_numbers(plan: Any) -> None:
    """As arrays."""
    with pytest.raises(TypeError, match="a plan"):
        checked_answer(Answer("optimal", plan, 1))


def test_a_good_answer_is_returned() -> None:
    """As it is."""
    plan = Plan(np.array([0]), np.array([[1]]))
    answer = Answer("feasible", plan, 3, 2.5)
    assert checked_answer(answer) is answer
