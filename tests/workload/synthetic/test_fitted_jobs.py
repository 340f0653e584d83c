"""The model of a log's jobs, on logs of a few jobs."""

import pytest

from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.fitted_jobs import (
    FittedJobs,
    JobCounter,
    Performance,
    Submitter,
    in_seconds,
)
from tests.builders import alike, traced
from tests.workload.synthetic.scripted import Scripted

SYSTEM = alike(4, core=8, gpu=2, mem=100)
SPEED = {"core": 10.0, "gpu": 100.0}


def counted(*jobs: TracedJob) -> JobCounter:
    """Return the tally of a log."""
    tally = JobCounter(Performance(SYSTEM, SPEED))
    for job in jobs:
        tally.add(job)
    return tally


def submitter(user: int) -> Submitter:
    """Return a user of whom nothing else is known."""
    return Submitter(user, None, None, None, None)


def test_speed_of_a_unit() -> None:
    """2 cores of 10 FLOP/s and a GPU of 100 are 120; memory computes nothing."""
    performance = Performance(SYSTEM, SPEED)
    assert performance.of_unit((2, 1, 50)) == 120.0
    assert performance.of_unit((0, 0, 50)) == 0.0


def test_flops_are_counted_by_size() -> None:
    """3 and 4 units are of one class, 5 of the next; shared requests do not make a shape."""
    tally = counted(
        traced(1, 0, 3, 60, (1, 0, 0)),
        traced(2, 0, 4, 60, (1, 0, 0), shared_requests=(("licence", 1),)),
        traced(3, 0, 5, 60, (1, 0, 0)),
    )
    assert sorted(tally.flops) == [(2, 1, 0, 0), (3, 1, 0, 0)]
    assert all(not shape.shared_requests for shape in tally.shapes.counts)


def test_a_log_of_equal_jobs() -> None:
    """Each job drawn has their request, and a run time within the bin of theirs.

    24 bins a decade: no more than 10.1 % apart.
    """
    jobs = FittedJobs(counted(*(traced(k, k, 2, 100, (1, 0, 0)) for k in range(5))))
    shape = jobs.shape(Scripted(0.99))
    assert (shape.units, shape.unit_request) == (2, (1, 0, 0))
    run_time, requested = jobs.times(Scripted(*[0.5] * 10), shape)
    assert 90 <= run_time <= 111
    assert requested == 100


def test_submitters_repeat_more_often_than_by_chance() -> None:
    """User 1 thrice, then user 2: 2 of 3 repeat; by chance (3² + 1²) / 4² = 5/8 would.

    Beyond that: (2/3 - 5/8) / (1 - 5/8) = 1/9.
    """
    jobs = FittedJobs(counted(*(traced(k, k, 1, 60, (1, 0, 0), user=u) for k, u in
                                enumerate((1, 1, 1, 2)))))  # fmt: skip
    assert jobs.submitter(Scripted(0.11), submitter(2)) == submitter(2)
    assert jobs.submitter(Scripted(0.12, 0.74), submitter(2)) == submitter(1)
    assert jobs.submitter(Scripted(0.12, 0.76), submitter(1)) == submitter(2)
    assert jobs.submitter(Scripted(0.0, 0.0), None) == submitter(1)


@pytest.mark.parametrize(("time", "seconds"), [(0, 0), (0.2, 1), (1.4, 1), (1.5, 2)])
def test_whole_seconds(time: float, seconds: int) -> None:
    """No job that runs is rounded to nothing."""
    assert in_seconds(time) == seconds
