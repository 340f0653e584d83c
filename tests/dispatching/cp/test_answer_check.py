"""Types of a solver's answer."""

from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.cp.answer_check import checked_answer
from hpcsched.dispatching.cp.model_solving import Answer
from hpcsched.dispatching.planning.plan import Plan


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
