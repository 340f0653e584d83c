"""Evaluation of forecasts: scores by hand, and of a small trace."""

import numpy as np
import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.forecast_evaluation import (
    AT_SUBMISSION,
    HOUR_BEFORE,
    SimilarWaits,
    crps,
    evaluate,
    planned_start,
)
from hpcsched.studies.forecast.forecasting import prepare
from tests.builders import easy, one_type, parts
from tests.studies.forecast.columns import jobs_of


def test_crps_by_hand() -> None:
    """Of samples 0 and 10: 5 off in the mean, less half of the mean distance of 5."""
    assert crps(np.array([0, 10]), 10) == 2.5
    assert crps(np.array([7, 7]), 10) == 3
    samples = np.sort(np.random.default_rng(0).integers(0, 50, 30))
    pairs = np.abs(samples[:, None] - samples[None, :]).mean()
    assert crps(samples, 20) == pytest.approx(np.abs(samples - 20).mean() - pairs / 2)


def test_a_small_trace() -> None:
    """Forecasts are nearer than both baselines."""
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=800"]))
    found = evaluate(prepared, jobs=30, samples=15)
    assert found.jobs == 800
    assert 0 < found.waited < 800
    assert found.scores[AT_SUBMISSION]["forecast"].jobs == 30
    assert found.scores[HOUR_BEFORE]["forecast"].jobs <= 30
    own, planned, similar = found.scores[AT_SUBMISSION].values()
    assert own.mean_absolute_error < min(planned.mean_absolute_error, similar.mean_absolute_error)
    assert own.crps < own.mean_absolute_error
    assert 0 < own.coverage[0] < own.coverage[1] <= 1
    assert planned.coverage == ()


def test_equal_every_time() -> None:
    """Samples are drawn by the seed alone."""
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=300"]))
    found = evaluate(prepared, jobs=5, samples=5)
    assert found.waited > 5
    assert found == evaluate(prepared, jobs=5, samples=5)


def test_nobody_waits() -> None:
    """There is nothing to evaluate, which is said."""
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=3"]))
    with pytest.raises(InputError, match="no job waits in this scenario"):
        evaluate(prepared)


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
