"""The predictor on real logs, beside `last-two`: what the README's table rests on."""

import os
from pathlib import Path

import pytest

from hpcsched import load_scenario, read_workload
from hpcsched.prediction.predictors import LastTwo, LastTwoParams
from hpcsched_learned.params import LearnedParams
from hpcsched_learned.predictor import Learned
from streams import predictions

FOLDER = os.environ.get("HPCSCHED_TRACES", "")
SCENARIOS = Path(__file__).parents[3] / "scenarios"


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER, reason="HPCSCHED_TRACES names no folder with the logs")
@pytest.mark.parametrize("name", ["kth-easy", "cerit-easy"])
def test_better_than_last_two(name: str) -> None:
    """The mean absolute error is smaller by a fifth at least."""
    jobs = read_workload(load_scenario(SCENARIOS / f"{name}.yaml")).jobs
    errors = []
    for predictor in (LastTwo(LastTwoParams()), Learned(LearnedParams(), seed=2)):
        predicted = predictions(predictor, jobs)
        wrong = [abs(p - traced.run_time) for p, traced in zip(predicted, jobs, strict=True)]
        errors.append(sum(wrong) / len(wrong))
    last_two, learned = errors
    assert learned < 0.8 * last_two
