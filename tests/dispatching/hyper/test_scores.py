"""The choice among the members of a portfolio, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.hyper.hyper_dispatcher import (
    PastJobs,
    gain_in_errors,
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


def test_a_gain_is_compared_with_its_standard_error() -> None:
    """Four blocks of one job, of which the means differ by 0, −10, 40 and 0: 7.5 on average.

    Their variance is (7.5² + 17.5² + 32.5² + 7.5²) / 3 = 491.67, that of the mean 122.92, and its
    root 11.087: the gain is 0.676 standard errors. In the other direction there is none.
    """
    jobs: Any = PastJobs(
        SimpleNamespace(submit_time=np.zeros(4, int), run_time=np.ones(4, int)), np.ones(4), 100
    )
    one, other = (
        scores_of(WaitTime(), jobs, np.array(waits), 1) for waits in ([0, 9, 48, 0], [0, 19, 8, 0])
    )
    assert (one.whole, other.whole) == (14.25, 6.75)
    assert one.without == [19, 16, 3, 19]
    assert gain_in_errors(one, other) == pytest.approx(0.6765, abs=1e-4)
    assert gain_in_errors(other, one) == 0
    assert gain_in_errors(one, one) == 0


def test_an_even_gain_is_certain() -> None:
    """A member that is better by as much in each block is better by any number of errors."""
    jobs: Any = PastJobs(
        SimpleNamespace(submit_time=np.zeros(8, int), run_time=np.ones(8, int)), np.ones(8), 100
    )
    one, other = (scores_of(WaitTime(), jobs, np.full(8, wait), 2) for wait in (8, 4))
    assert len(one.without) == 4
    assert gain_in_errors(one, other) == np.inf


def test_columns_that_replays_lack() -> None:
    """An objective that needs one is told which there are."""
    with pytest.raises(InputError, match=r"'energy'.*submit_time"):
        list(ReplayedJobs({"submit_time": np.array([0])}).batches("energy"))
