"""Orders of decisions by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.postpone.search_opening import in_order

NONE = np.zeros((4, 0), dtype=np.int64)


def test_a_job_comes_behind_its_twin() -> None:
    """Job 2 is the twin of job 0: 2, 1, 0 becomes 0, 1, 2. Others keep their places."""
    problem: Any = SimpleNamespace(twin=np.array([-1, -1, 0, -1]), before=NONE)
    assert in_order(problem, np.array([2, 1, 0, 3])).tolist() == [0, 1, 2, 3]
    assert in_order(problem, np.array([3, 0, 1, 2])).tolist() == [3, 0, 1, 2]


def test_a_chain_of_twins() -> None:
    """Job 2 follows job 1, which follows job 0: their three places are filled in that order."""
    problem: Any = SimpleNamespace(twin=np.array([-1, 0, 1, -1]), before=NONE)
    assert in_order(problem, np.array([1, 3, 2, 0])).tolist() == [0, 3, 1, 2]
