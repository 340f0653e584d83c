"""The choice among the members of a portfolio, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.hyper.hyper_dispatcher import (
    PastJobs,
    Scores,
    better,
    score,
    scores_of,
)
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


def waits(*seconds: int) -> Scores:
    """Return the scores of jobs with these waits, each of which is a block."""
    zeros, ones = np.zeros(len(seconds), int), np.ones(len(seconds), int)
    columns: Any = SimpleNamespace(submit_time=zeros, run_time=ones)
    return scores_of(WaitTime(), PastJobs(columns, ones, 100), np.array(seconds))


def test_a_member_must_be_better_by_standard_errors() -> None:
    """The second member gains 0, −20, 40, 30 and 0 s, 10 s on average.

    Squares of the deviations from it sum up to 2,400 s², so the standard error of the mean is
    √(2,400 / 4 / 5) = 10.95 s, and the gain is 0.913 of it.
    """
    assert waits(0, 9, 48, 0) == [57 / 4, 57 / 3, 48 / 3, 9 / 3, 57 / 3]
    members = [waits(0, 9, 48, 47, 0), waits(0, 29, 8, 17, 0)]
    assert better(members, 0, 0.91) == 1
    assert better(members, 0, 0.92) is None
    assert better(members, 1, 0) is None


def test_a_gain_in_a_single_block_is_one_standard_error() -> None:
    """However much it is: the deviations are 3/4 and three times 1/4 of it."""
    members = [waits(0, 0, 4800, 0), waits(0, 0, 0, 0)]
    assert better(members, 0, 0.99) == 1
    assert better(members, 0, 1.01) is None


def test_of_equal_scores_the_first_member_wins() -> None:
    """Members that would have served alike are not changed for each other either."""
    assert better([[100, 100], [10, 10], [10, 10]], 0, 1) == 1
    assert better([[100, 100], [10, 10], [10, 10]], 2, 0) is None


def test_there_are_32_blocks_at_most() -> None:
    """Of 64 jobs two are left out at a time: the last two waited."""
    scores = waits(*[0] * 62, 8, 8)
    assert scores == [0.25, *[16 / 62] * 31, 0]


def test_columns_that_replays_lack() -> None:
    """An objective that needs one is told which there are."""
    with pytest.raises(InputError, match=r"'energy'.*submit_time"):
        list(ReplayedJobs({"submit_time": np.array([0])}).batches("energy"))
