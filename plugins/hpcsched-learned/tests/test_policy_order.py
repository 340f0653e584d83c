"""The queue order of a policy, by hand."""

import numpy as np
import pytest

from hpcsched import PluginError
from hpcsched.testing import make_problem, make_system
from hpcsched_learned.policy_order import FEATURES, PolicyOrder

TABLE = """
job_id  submit_time  units  requested_time
1       0            1      30
2       0            1      10
3       0            1      20
4       0            1      5
"""


def sorted_by(order: PolicyOrder) -> list[int]:
    """Return the numbers of the queued jobs in order."""
    return [job.job_id for job in order.sort(make_problem(make_system(2), TABLE))]


def test_by_descending_score() -> None:
    """Jobs beyond the window come last, in order of arrival."""

    def shortest(rows: np.ndarray) -> np.ndarray:
        return -rows[:, FEATURES.index("predicted_run_time")]

    assert sorted_by(PolicyOrder(shortest, window=3)) == [2, 3, 1, 4]
    assert sorted_by(PolicyOrder(shortest, window=8)) == [4, 2, 3, 1]


def test_equal_scores_and_no_policy() -> None:
    """Both are the order of arrival."""
    assert sorted_by(PolicyOrder(lambda rows: np.zeros(len(rows)))) == [1, 2, 3, 4]
    assert sorted_by(PolicyOrder(None)) == [1, 2, 3, 4]


def test_a_score_that_is_no_number() -> None:
    """It is refused."""
    with pytest.raises(PluginError, match="not a finite number"):
        sorted_by(PolicyOrder(lambda rows: np.full(len(rows), np.inf)))
