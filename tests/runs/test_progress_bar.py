"""The bar of a replay: share of the trace, jobs and jobs per second."""

import pytest

from hpcsched.runs import terminal_views
from hpcsched.runs.terminal_views import ReplayBar
from tests.terminal import error_terminal


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
    monkeypatch.setattr(terminal_views, "monotonic", clock)
    return clock


def test_what_it_shows(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 2 s with 640 jobs, a quarter of the trace: 320 jobs a second."""
    terminal = error_terminal(monkeypatch)
    bar = ReplayBar("small")
    clock.now += 2
    bar.update(0.25, 640)
    bar.close()
    last = terminal.lines[-1]
    assert last.startswith("small ")
    assert "25% 640 jobs, 320/s" in last


def test_a_trace_of_unknown_length(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """No share is made up for it."""
    terminal = error_terminal(monkeypatch)
    bar = ReplayBar("small")
    clock.now += 1
    bar.update(None, 50)
    bar.close()
    assert "50 jobs, 50/s" in terminal.lines[-1]
    assert "%" not in terminal.lines[-1]


def test_it_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is erased, so that what is written next stands in its place."""
    terminal = error_terminal(monkeypatch)
    ReplayBar("small").close()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A file or a pipe is not filled with bars."""
    bar = ReplayBar("small")
    bar.update(0.5, 1000)
    bar.close()
    assert capsys.readouterr() == ("", "")
