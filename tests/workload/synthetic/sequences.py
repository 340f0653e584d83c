"""What holds of every made-up workload that has a window: each test file calls these."""

import hashlib
from collections.abc import Callable
from itertools import islice

from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from tests.workload.synthetic.memory import peak

Make = Callable[..., SyntheticSource]
DAY = 86400
FLAT = 100_000
"""By how many bytes the peak may grow from 2,000 jobs to 10,000, which would take 3 million."""


def digest(source: SyntheticSource, count: int) -> str:
    """Return a SHA-256 over all fields of the first jobs that models draw."""
    found = hashlib.sha256()
    for job, run_time in islice(source.jobs(), count):
        request = Request(job.units, job.unit_request)
        whose = (job.user, job.group, job.application, job.queue, job.partition)
        numbers = (job.job_id, job.submit_time, *request[:2], job.requested_time, *whose)
        assert job == Job(*numbers[:2], request, job.requested_time, *whose, job.name)
        found.update(repr(((*numbers, None, False, None, job.name), run_time)).encode())
    return found.hexdigest()


def moved(traced: TracedJob, by: int) -> TracedJob:
    """Return a job that is submitted so many seconds later."""
    job = traced.job
    return traced._replace(job=job._replace(submit_time=job.submit_time + by))


def check_windows(make: Make, begin: int, days: int) -> None:
    """A window is a slice of the whole, moved to time 0, and says when it begins."""
    end = begin + days * DAY
    whole = []
    for traced in make().jobs():
        if traced.job.submit_time >= end:
            break
        whole.append(traced)
    expected = [moved(traced, -begin) for traced in whole if traced.job.submit_time >= begin]
    source = make(start=begin, duration=days * DAY)
    assert list(source.jobs()) == expected
    assert source.account.read == source.account.submitted == len(expected) > 100
    assert source.fraction_read is None
    assert list(make(start=begin, jobs=50).jobs()) == expected[:50]
    (starts_at,) = [int(c.split()[1]) for c in make().comments if c.startswith("UnixStart")]
    assert f"UnixStartTime: {starts_at + begin}" in source.comments


def check_load(make: Make) -> None:
    """Submit times are divided by the load; nothing else changes."""
    plain = list(make(jobs=3000).jobs())
    for load in (0.5, 1.0, 3.0):
        loaded = list(make(jobs=3000, load=load).jobs())
        assert [traced.job.submit_time for traced in loaded] == [
            int(traced.job.submit_time / load) for traced in plain
        ]
        assert [moved(traced, -traced.job.submit_time) for traced in loaded] == [
            moved(traced, -traced.job.submit_time) for traced in plain
        ]


def check_stream(make: Make) -> None:
    """Jobs come by submit time, numbered from 1, the same ones at each call; other seeds differ."""
    source = make(jobs=5000)
    jobs = list(source.jobs())
    times = [traced.job.submit_time for traced in jobs]
    assert times == sorted(times)
    assert [traced.job.job_id for traced in jobs] == list(range(1, 5001))
    assert source.fraction_read == 1.0
    assert list(source.jobs()) == jobs
    assert list(make(seed=1, jobs=5000).jobs()) != jobs


def check_memory(make: Make) -> None:
    """The peak of memory does not grow with the number of jobs."""
    peak(make(jobs=1))  # what is made once, whoever is first
    assert peak(make(jobs=10_000)) - peak(make(jobs=2_000)) < FLAT
