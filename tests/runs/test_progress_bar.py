"""The bar of a replay: share of the trace, jobs and jobs per second."""

from types import SimpleNamespace

import pytest

from hpcsched.runs import progress_bar
from hpcsched.runs.progress_bar import ProgressBar
from hpcsched.runs.replay_progress import ReplayProgress
from hpcsched.workload.trace_source import TraceAccount
from tests.builders import traced
from tests.runs.hand_made import row
from tests.terminal import error_terminal

ENDED = row(traced(1, 0, 1, 10, (1, 1, 0)), 0, {0: 1})


def half_read(fraction: float | None, jobs: int = 0) -> ReplayProgress:
    """Return the progress with a trace of which a share has been read, with so many jobs in it."""
    return ReplayProgress(SimpleNamespace(fraction_read=fraction, account=TraceAccount(read=jobs)))


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the real seconds."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give bars a clock."""
    clock = Clock()
    monkeypatch.setattr(progress_bar, "monotonic", clock)
    return clock


def test_what_it_shows(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 2 s with 640 jobs, a quarter of the trace: 320 jobs a second."""
    terminal = error_terminal(monkeypatch)
    bar = ProgressBar("small", half_read(0.25, 640))
    clock.now += 2
    bar.replayed(640)
    bar.close()
    last = terminal.lines[-1]
    assert last.startswith("small ")
    assert "25% 640 jobs, 320/s" in last


@pytest.mark.parametrize(("more", "shown"), [(0, "50% 64 jobs, 16/s"), (35, "50% 100 jobs, 20/s")])
def test_jobs_one_by_one(
    more: int, shown: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 jobs in 4 s are 16 a second; the 65th is counted, and shown with those after it."""
    terminal = error_terminal(monkeypatch)
    bar = ProgressBar("small", half_read(0.5, 100 if more else 64))
    clock.now += 4
    for _ in range(65):
        bar.job_ended(ENDED)
    if more:
        clock.now += 1
        bar.replayed(more)
    bar.close()
    assert shown in terminal.lines[-1]


def test_updates_are_rare(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a fifth of a second, the bar stays as it is."""
    terminal = error_terminal(monkeypatch)
    bar = ProgressBar("small", half_read(0.5))
    clock.now += 1
    bar.replayed(100)
    clock.now += 0.1
    bar.replayed(100)
    bar.close()
    assert "100 jobs, 100/s" in terminal.lines[-1]


def test_a_trace_of_unknown_length(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """No share is made up for it."""
    terminal = error_terminal(monkeypatch)
    bar = ProgressBar("small", half_read(None))
    clock.now += 1
    bar.replayed(50)
    bar.close()
    assert "50 jobs, 50/s" in terminal.lines[-1]
    assert "%" not in terminal.lines[-1]


def test_it_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is erased, so that what is written next stands in its place."""
    terminal = error_terminal(monkeypatch)
    bar = ProgressBar("small", half_read(0.5))
    bar.close()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A file or a pipe is not filled with bars."""
    bar = ProgressBar("small", half_read(0.5))
    bar.replayed(1000)
    bar.job_ended(ENDED)
    bar.close()
    assert capsys.readouterr() == ("", "")
