"""Text that commands print: shown whole, obeyed by no terminal, and lost with a word."""

import io
import sys

import pytest

from hpcsched.errors import InputError
from hpcsched.terminal import PlainStream, can_draw, for_drawing, plain_streams, visible
from tests.terminal import Terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zürich\t–\u202f█\n", "Zürich\t–\u202f█\n"),
        ("\x1b[2J\r", "\\u001b[2J\\u000d"),
        ("\x9b\u202e\u2066\u200f\ufeff", "\\u009b\\u202e\\u2066\\u200f\\ufeff"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\udcff", "\\udcff"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    """Control and format characters are escapes of JSON; spaces and line breaks stay."""
    assert visible(text) == shown


class Full(io.StringIO):
    """A stream that takes nothing."""

    def write(self, text: str) -> int:
        """Fail."""
        raise OSError(28, "No space left on device")


def test_a_full_stream() -> None:
    """The first loss of results is an error; that of warnings and what comes later is none."""
    needed = PlainStream(Full(), "standard output")
    with pytest.raises(InputError, match="standard output: error: it cannot be written: No space"):
        needed.write("a")
    assert needed.write("b") == 1
    assert PlainStream(Full()).write("a") == 1


def test_ascii() -> None:
    """Where a terminal knows ASCII alone, other letters are escapes."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    PlainStream(out).write("Zürich")
    out.flush()
    assert raw.getvalue() == b"Z\\xfcrich"


def test_standard_streams(capsys: pytest.CaptureFixture[str]) -> None:
    """All that is printed within is shown, and the streams are put back."""
    before = sys.stdout, sys.stderr
    with plain_streams():
        sys.stdout.write("\x1b[2J\n")
        sys.stderr.write("\x9b\n")
        for_drawing(sys.stderr).write("\x1b[K")
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr() == ("\\u001b[2J\n", "\\u009b\n\x1b[K")


@pytest.mark.parametrize(("kind", "drawn"), [("xterm", True), ("dumb", False), ("", False)])
def test_terminals(kind: str, drawn: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn where the cursor cannot be moved."""
    monkeypatch.setenv("TERM", kind)
    assert can_draw(Terminal()) == drawn
    assert not can_draw(io.StringIO())
