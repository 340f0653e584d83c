"""Streams of made-up jobs, in the order in which a predictor is asked and told."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from random import Random

from hpcsched import Job, Predictor, Request, TracedJob


def events(jobs: Sequence[TracedJob]) -> Iterator[tuple[Job, int | None]]:
    """Yield jobs at submission (with None) and at completion (with their run time in seconds).

    Jobs start when they are submitted. At an instant, completions come first.
    """
    running: list[tuple[int, int, TracedJob]] = []
    for job, run_time in jobs:
        while running and running[0][0] <= job.submit_time:
            yield heappop(running)[2]
        yield job, None
        heappush(running, (job.submit_time + run_time, job.job_id, TracedJob(job, run_time)))
    while running:
        yield heappop(running)[2]


def predictions(predictor: Predictor, jobs: Sequence[TracedJob]) -> list[int]:
    """Return what is predicted for each job, in their order, in seconds."""
    predicted = []
    for job, run_time in events(jobs):
        if run_time is None:
            predicted.append(predictor.predict(job))
        else:
            predictor.observe(job, run_time)
    return predicted


def habits(count: int, seed: int = 0) -> list[TracedJob]:
    """Return jobs of users who each ask for a time of their own and need a varying share of it.

    The share follows from the user and from the number of units, with noise. A job is submitted
    every minute.
    """
    random = Random(seed)
    jobs = []
    for job_id in range(count):
        user, units = random.randint(1, 6), random.choice([1, 2, 8])
        share = min(1.0, 0.05 * user + 0.05 * units + random.uniform(0, 0.3))
        job = Job(job_id, 60 * job_id, Request(units, (1,)), 600 * user, user=user)
        jobs.append(TracedJob(job, round(share * job.requested_time)))
    return jobs
