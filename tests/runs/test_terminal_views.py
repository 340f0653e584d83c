"""Displays draw names of others without obeying them."""

import sys

import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hpcsched.runs import terminal_views
from hpcsched.runs.terminal_views import ReplayBar, TerminalConsole
from tests.terminal import error_terminal

HOSTILE = "a\x1b]0;owned\x07\x9b2J\u202e[bold]"
SHOWN = "a\\u001b]0;owned\\u0007\\u009b2J\\u202e[bold]"


def test_names_in_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """In cells, texts and lines above a display they are shown; its own movements are made."""
    terminal = error_terminal(monkeypatch)
    table = Table()
    table.add_column(HOSTILE)
    table.add_row(Text(HOSTILE))
    before = sys.stderr
    with Live(table, console=TerminalConsole(sys.stderr), transient=True):
        sys.stderr.write(f"{HOSTILE}\n")
    assert sys.stderr is before
    written = terminal.getvalue()
    assert written.count(SHOWN) >= 3
    assert "\x1b[2K" in written
    assert not {"\x07", "\x9b", "\u202e"} & set(written)
    assert "\x1b]" not in written


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
