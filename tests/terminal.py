"""A terminal in memory, in the place of standard error."""

import io
import re

import pytest

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """Text that was written to a terminal."""

    def isatty(self) -> bool:
        """Return True, so that bars are drawn."""
        return True

    @property
    def lines(self) -> list[str]:
        """Each line that was ever drawn, without colours and movements of the cursor."""
        text = _CONTROL.sub("", self.getvalue()).replace("\r", "\n")
        return [line.strip() for line in text.split("\n") if line.strip()]


def error_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal of 100 columns, and return it.

    To be called by the test itself: pytest puts its own standard error in place after fixtures.
    """
    terminal = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal
