"""Orders of decisions by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.postpone.search_opening import in_order

NONE: list[list[int]] = [[], [], [], []]


def problem_of(twin: list[int], before: list[list[int]] = NONE) -> Any:
    """Return four jobs with their twins, and those that dominate them."""
    return SimpleNamespace(twin=np.array(twin), before=np.array(before, dtype=np.int64))


def test_a_job_comes_behind_its_twin() -> None:
    """Job 2 is the twin of job 0: 2, 1, 0 becomes 0, 1, 2. Others keep their places."""
    problem = problem_of([-1, -1, 0, -1])
    assert in_order(problem, np.array([2, 1, 0, 3])).tolist() == [0, 1, 2, 3]
    assert in_order(problem, np.array([3, 0, 1, 2])).tolist() == [3, 0, 1, 2]


def test_a_chain_of_twins() -> None:
    """Job 2 follows job 1, which follows job 0: their three places are filled in that order."""
    problem = problem_of([-1, 0, 1, -1])
    assert in_order(problem, np.array([1, 3, 2, 0])).tolist() == [0, 3, 1, 2]


def test_a_job_comes_behind_those_that_dominate_it() -> None:
    """Job 3 behind 1, and 1 behind 0, although the shortest come first: 3, 1, 2, 0."""
    problem = problem_of([-1] * 4, [[-1], [0], [-1], [1]])
    assert in_order(problem, np.array([3, 1, 2, 0])).tolist() == [2, 0, 1, 3]
