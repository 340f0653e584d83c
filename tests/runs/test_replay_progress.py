"""Progress of a replay, by hand."""

from types import SimpleNamespace

import pytest

from hpcsched.runs import monitor
from hpcsched.runs.monitor import ReplayProgress
from hpcsched.workload.trace_source import TraceAccount


def progress(
    fraction: float | None, read: int = 0, skipped: int = 0, most_jobs: int | None = None
) -> ReplayProgress:
    """Return the progress with a trace of which a share and so many records have been read."""
    account = TraceAccount(read=read)
    account.skipped["malformed"] += skipped
    return ReplayProgress(SimpleNamespace(fraction_read=fraction, account=account), most_jobs)


def test_a_log_that_is_read_first() -> None:
    """All of it is read, and has 8 jobs, of which 2 have ended."""
    assert progress(1.0, 10, skipped=2).share(2) == 0.25
    assert progress(1.0, 10, skipped=2).share(8) == 1.0


def test_a_log_that_is_read_on_the_way() -> None:
    """A half of it has 8 jobs, so that there are 16 in all."""
    assert progress(0.5, 10, skipped=2).share(4) == 0.25


def test_a_number_of_jobs_in_the_scenario() -> None:
    """16 jobs by the trace, and no more than 5 wanted; or 100, of which the trace has but 8."""
    assert progress(0.5, 8, most_jobs=5).share(4) == 0.8
    assert progress(1.0, 8, most_jobs=100).share(4) == 0.5
    assert progress(None, most_jobs=5).share(1) == 0.2


def test_what_is_not_known() -> None:
    """Nothing is made up for a source that does not tell; before the first job it is 0."""
    assert progress(None).share(4) is None
    assert progress(0.5).share(0) == 0.0
    assert progress(None).remaining(None) is None


def test_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 10 % to 30 % it took 4 s, so the other 70 % take 14 s."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(monitor, "monotonic", lambda: clock.now)
    seen = progress(1.0, 100)
    assert seen.remaining(0.1) is None
    clock.now += 0.5
    assert seen.remaining(0.2) is None  # too early
    clock.now += 3.5
    assert seen.remaining(0.3) == pytest.approx(14)
    assert seen.remaining(0.1) is None  # nothing has ended since
    assert seen.remaining(1.0) == 0
