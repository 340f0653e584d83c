"""`check_trace_source` and `check_transform` accept what is right, and find each mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hpcsched.errors import PluginError
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS
from hpcsched.system.system import Request
from hpcsched.testing import check_trace_source, check_transform, make_system
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.trace_source import TraceAccount


class Source:
    """Three jobs, with a mistake."""

    fraction_read = None
    dependencies = False

    def __init__(self, mistake: str = "none") -> None:
        self.mistake = mistake
        self.account = TraceAccount()
        self.comments = [5] if mistake == "comments" else []
        self.files = [Path("no-such-file")] if mistake == "files" else []
        self.uniform_request = (2,) if mistake == "uniform" else (1,)
        self._readings = 0
        if mistake == "fraction":
            self.fraction_read = 7.0

    def jobs(self):
        """Yield the jobs, with the mistake."""
        self._readings += 1
        if self.mistake != "same account":
            self.account = TraceAccount()
        for k in range(3):
            self.account.read += 1
            if self.mistake == "lost" and k == 1:
                continue
            self.account.submitted += self.mistake != "not counted"
            yield self._job(k)

    def _job(self, k: int):
        number, submit, run_time, units = k + 1, 10 * k, 5, 1
        request, after = (1,), ()
        match self.mistake:
            case "type":
                return number
            case "run time":
                run_time = 2.5
            case "order":
                submit = 30 - submit
            case "twice":
                number = 1
            case "large":
                units = 9
            case "amounts":
                request = (1, 1)
            case "after" if k:
                after = (1,)
            case "readings":
                run_time = self._readings
        return TracedJob(Job(number, submit, Request(units, request), 9, after=after), run_time)


class Waits(Source):
    """Source with wait times of jobs that it does not have."""

    def keep_waits(self):
        """Return them."""
        return {17: 3}


class Empty(Source):
    """Source without jobs."""

    def jobs(self):
        """Yield nothing."""
        return iter(())


def test_right_source() -> None:
    """A source that counts every record passes."""
    check_trace_source(lambda _system: Source(), make_system())


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", "expected a TracedJob with a Job, found 1"),
        ("run time", r"job 1: expected a whole run_time of at least 0, found 2\.5"),
        ("order", "expected jobs by ascending submit time, found job 2 at 20 after one at 30"),
        ("twice", "job 1: expected each number once, found it twice"),
        ("large", "job 1: expected a job that fits on the system"),
        ("amounts", r"job 1: expected a tuple with an amount of each of core, found \(1, 1\)"),
        ("uniform", r"job 1: expected the uniform request \(2,\), found \(1,\)"),
        ("after", r"job 2: expected no 'after' without an attribute 'dependencies'"),
        ("lost", "expected every record submitted or skipped, found 3 read, 2 submitted and 0"),
        ("not counted", "account: expected 3 submitted, as many as jobs, found 0"),
        ("same account", "expected the same jobs and account when read again, found others"),
        ("readings", "expected the same jobs and account when read again, found others"),
        ("files", "expected the paths of its input files, found .*no-such-file"),
        ("comments", r"expected a sequence of str as comments, found \[5\]"),
        ("fraction", "expected a number from 0 to 1, or None, as fraction_read, found 7.0"),
    ],
)
def test_wrong_source(mistake: str, message: str) -> None:
    """Each mistake is named."""
    with pytest.raises((AssertionError, PluginError), match=message):
        check_trace_source(lambda _system: Source(mistake), make_system())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Waits, "keep_waits: expected whole seconds by the number of a job, found 3 for 17"),
        (Empty, "expected a trace with jobs that fit on the system, found none"),
    ],
)
def test_wrong_contents(make: Callable[[], Source], message: str) -> None:
    """Waits belong to jobs, and a trace has some."""
    with pytest.raises((AssertionError, PluginError), match=message):
        check_trace_source(lambda _system: make(), make_system())


class Transform:
    """Takes away every fourth job, with a mistake."""

    def __init__(self, mistake: str = "none") -> None:
        self.mistake = mistake
        self._applied = 0

    def apply(self, jobs, account):
        """Yield the remaining jobs, with the mistake."""
        self._applied += 1
        if self.mistake == "first":
            yield next(jobs)
        held = []
        for k, traced in enumerate(jobs):
            job = traced.job
            if k % 4 == 3:
                if self.mistake != "uncounted":
                    account.skip("fourth")
                continue
            match self.mistake:
                case "type":
                    yield job
                    continue
                case "numbers":
                    job = job._replace(job_id=job.job_id + 1000)
                case "request":
                    job = job._replace(request=job.request._replace(exclusive=True))
                case "units":
                    job = job._replace(request=job.request._replace(units=1))
                case "moves":
                    job = job._replace(submit_time=job.submit_time * 2)
                case "state":
                    job = job._replace(requested_time=job.requested_time + self._applied)
                case "order":
                    held.append(traced)
                    continue
            yield TracedJob(job, traced.run_time)
        yield from reversed(held)


def test_right_transform() -> None:
    """A transform that counts what it takes away passes."""
    check_transform(Transform, capabilities={KEEPS_REQUESTS, KEEPS_WAITS}, seeds=[0])
    check_transform(lambda: Transform("request"), seeds=[0])


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", "expected a TracedJob with a Job, found Job"),
        ("numbers", r"expected the jobs that it was given, found one with the number 1\d\d\d"),
        ("uncounted", "expected every job passed on or counted as taken away, found 10"),
        ("order", "expected jobs by ascending submit time, found job"),
        ("state", "expected the same jobs when applied again, found others"),
        ("request", r"job \d+: expected the request of a unit kept, as 'keeps_requests' says"),
        ("units", r"job \d+: expected the request kept, as 'keeps_waits' says"),
        ("moves", "expected all submit times moved alike, as 'keeps_waits' says"),
    ],
)
def test_wrong_transform(mistake: str, message: str) -> None:
    """Each mistake is named, with the workload in a note."""
    declared = {KEEPS_REQUESTS, KEEPS_WAITS}
    with pytest.raises((AssertionError, PluginError), match=message) as caught:
        check_transform(lambda: Transform(mistake), capabilities=declared, seeds=[0])
    assert caught.value.__notes__ == ["on sample workload 'one-slot', seed 0"]


def test_no_jobs() -> None:
    """A transform that relies on a first job is found out."""
    with pytest.raises((RuntimeError, PluginError)) as caught:
        check_transform(lambda: Transform("first"), seeds=[0])
    assert caught.value.__notes__ == ["without jobs"]
