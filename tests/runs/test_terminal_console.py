"""Displays draw names of others without obeying them."""

import sys

import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hpcsched.runs.terminal_views import TerminalConsole
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
