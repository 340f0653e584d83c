"""Baselines of forecasts by hand."""

import numpy as np
import pytest

from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.baselines import SimilarWaits, planned_start
from tests.builders import easy, one_type, parts
from tests.studies.forecast.columns import jobs_of


def test_the_plan_by_requested_times() -> None:
    """The running job asked for 100 s and takes 30 s; the plan says 100 s."""
    columns = jobs_of([(0, 2, 100, 30, 1), (10, 2, 100, 5, 1)])
    ((_, branch, _),) = branches(parts(one_type(2), easy()), columns, [2])
    assert planned_start(branch, 1) == 100


def test_waits_of_similar_jobs() -> None:
    """Similar are those of 2 or 3 units and of 64 to 127 s; they waited 10 and 30 s.

    The one that starts at 200 s is not known at 150 s. Without similar ones the mean is over all.
    """
    columns = jobs_of(
        [(0, 2, 100, 9, 1), (0, 3, 64, 9, 1), (0, 8, 100, 9, 1), (0, 2, 70, 9, 1), (0, 2, 99, 9, 1),
         (0, 1, 9, 9, 1)]
    )  # fmt: skip
    waits = SimilarWaits(columns, np.array([10, 30, 80, 200, 300, 300]))
    assert waits.mean_wait(4, 150) == 20
    assert waits.mean_wait(4, 250) == 80
    assert waits.mean_wait(5, 150) == pytest.approx(40)
    assert waits.mean_wait(0, 150) == 0
