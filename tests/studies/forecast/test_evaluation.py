"""Evaluation of forecasts: scores by hand, and of a small trace."""

import numpy as np
import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.studies.forecast.evaluation import AT_SUBMISSION, HOUR_BEFORE, crps, evaluate
from hpcsched.studies.forecast.prepared_replay import prepare


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
