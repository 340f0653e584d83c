"""The predictor `learned`."""

from functools import partial

import pytest

from hpcsched import Job, Request, TracedJob
from hpcsched.prediction.predictors import LastTwo, LastTwoParams
from hpcsched.testing import check_predictor
from hpcsched_learned.params import LearnedParams
from hpcsched_learned.predictor import Learned
from streams import events, habits, predictions

SMALL = LearnedParams(window=300, retrain_every=100, first_training=50, trees=10)
EAGER = LearnedParams(window=30, retrain_every=5, first_training=10, trees=3)


def mean_error(predicted: list[int], jobs: list[TracedJob]) -> float:
    """Return the mean absolute error in seconds."""
    errors = [abs(p - traced.run_time) for p, traced in zip(predicted, jobs, strict=True)]
    return sum(errors) / len(errors)


def test_keeps_to_the_protocol() -> None:
    """Predictions are whole, the same each time, and know nothing of jobs that still run."""
    check_predictor(partial(Learned, EAGER, seed=1))


def test_two_instances_agree() -> None:
    """A seed gives the same predictions; another seed grows other trees."""
    jobs = habits(400)
    first = predictions(Learned(SMALL, seed=7), jobs)
    assert first == predictions(Learned(SMALL, seed=7), jobs)
    assert first != predictions(Learned(SMALL, seed=8), jobs)


def test_large_seeds() -> None:
    """A scenario's seeds for its plugins have 64 bits."""
    assert predictions(Learned(EAGER, seed=2**64 - 1), habits(40))


def test_cold_start() -> None:
    """Until the first training, predictions are those of `last-two`; from then on they are not."""
    jobs = habits(200)
    learned, last_two = Learned(SMALL, seed=1), LastTwo(LastTwoParams())
    pairs, completed = [], 0
    for job, run_time in events(jobs):
        if run_time is None:
            pairs.append((completed, learned.predict(job), last_two.predict(job)))
        else:
            completed += 1
            learned.observe(job, run_time)
            last_two.observe(job, run_time)
    before = [(a, b) for seen, a, b in pairs if seen < 50]
    after = [(a, b) for seen, a, b in pairs if seen >= 50]
    assert len(before) > 50
    assert all(a == b for a, b in before)
    assert sum(a != b for a, b in after) > len(after) / 2


def test_knows_no_run_time_before_its_job_has_completed() -> None:
    """With other run times of the jobs that end after an instant, predictions till then stay."""
    jobs = habits(300)
    middle = jobs[200].job.submit_time
    others = [
        TracedJob(job, run_time if job.submit_time + run_time <= middle else run_time + 5000)
        for job, run_time in jobs
    ]
    assert others != jobs
    one = predictions(Learned(SMALL, seed=1), jobs)
    other = predictions(Learned(SMALL, seed=1), others)
    assert one[:201] == other[:201]
    assert one != other


def test_learns_habits() -> None:
    """Where run times follow from the user and the units, it is far better than `last-two`."""
    jobs = habits(800)
    learned = mean_error(predictions(Learned(SMALL, seed=1), jobs), jobs)
    last_two = mean_error(predictions(LastTwo(LastTwoParams()), jobs), jobs)
    assert learned < 0.8 * last_two


def test_quantiles() -> None:
    """The higher the quantile, the fewer jobs run longer than predicted, about as many as it says.

    The forest is the same for all quantiles, so no prediction falls below that of a lower one.
    """
    jobs = habits(1200)
    under, before = [], [0] * len(jobs)
    for quantile in (0.1, 0.5, 0.9):
        params = LearnedParams(**{**SMALL.model_dump(), "quantile": quantile})
        predicted = predictions(Learned(params, seed=1), jobs)
        assert all(low <= high for low, high in zip(before, predicted, strict=True))
        pairs = list(zip(predicted, jobs, strict=True))[200:]
        under.append(sum(p < traced.run_time for p, traced in pairs) / len(pairs))
        before = predicted
    assert under[0] > under[1] > under[2]
    assert under == pytest.approx([0.9, 0.5, 0.1], abs=0.12)


def test_bounds() -> None:
    """A prediction is at least 1 s and at most what was requested, whatever was observed."""
    learned = Learned(LearnedParams(**{**EAGER.model_dump(), "quantile": 0.99}), seed=1)
    jobs = [
        TracedJob(Job(n, n, Request(1, (1,)), 10, user=1), 0 if n < 30 else 500) for n in range(60)
    ]
    found = set()
    for job, run_time in jobs:
        found.add(learned.predict(job))
        learned.observe(job, run_time)
    assert found == {1, 10}


@pytest.mark.parametrize("user", [None, 3])
def test_memory_is_bounded(user: int | None) -> None:
    """Jobs that never complete, and users who never come back, are forgotten."""
    params = LearnedParams(memory=20, window=30, first_training=10, retrain_every=1000, trees=1)
    learned = Learned(params, seed=1)
    for n in range(500):
        job = Job(n, n, Request(1 + n % 7, (1,)), 100 + n, user=n if user is None else None)
        learned.predict(job)
        if n % 2:
            learned.observe(job, 5)
    assert learned.remembered <= 2 * 20 + 20 + 30 + 20


def test_a_job_that_was_not_asked_about() -> None:
    """What was never predicted is no example, and does no harm."""
    learned = Learned(EAGER, seed=1)
    for job, run_time in habits(50):
        learned.observe(job, run_time)
    job = Job(99, 5000, Request(1, (1,)), 600, user=77)
    assert learned.predict(job) == 600
