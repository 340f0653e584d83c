"""The choice among the members of a portfolio, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.hyper.hyper_dispatcher import better, score
from hpcsched.dispatching.objectives import WaitTime
from hpcsched.dispatching.offline.offline_trace import PlanTable as ReplayedJobs
from hpcsched.errors import InputError


def test_jobs_that_have_not_started_count_as_starting_now() -> None:
    """Waits of 40, 30 − 10 and, of a start at 90 when it is 50, 50 − 20 s; mean 30."""
    jobs: Any = SimpleNamespace(
        columns=SimpleNamespace(submit_time=np.array([0, 10, 20]), run_time=np.array([5, 5, 5])),
        demands=np.array([1, 1, 1]),
        now=50,
    )
    assert score(WaitTime(), jobs, np.array([40, 30, 90])) == 30


def test_a_member_must_be_better_by_the_hysteresis_over_the_root_of_the_jobs() -> None:
    """With 4 jobs and 0.2 it must be below 100 · (1 − 0.2 / 2) = 90."""
    assert better([100, 89], 0, 0.2, 4) == 1
    assert better([100, 91], 0, 0.2, 4) is None
    assert better([100, 91], 0, 0.2, 400) == 1


def test_of_equal_scores_the_first_member_wins() -> None:
    """Members that would have served alike are not changed for each other either."""
    assert better([100, 10, 10], 0, 0, 1) == 1
    assert better([100, 10, 10], 2, 0, 1) is None


def test_columns_that_replays_lack() -> None:
    """An objective that needs one is told which there are."""
    with pytest.raises(InputError, match=r"'energy'.*submit_time"):
        list(ReplayedJobs({"submit_time": np.array([0])}).batches("energy"))
