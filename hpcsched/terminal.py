"""Text on standard output and standard error, with control characters shown and not obeyed."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast
from unicodedata import category

from hpcsched.whole_files import cannot_write


def visible(text: str) -> str:
    r"""Return text with control and format characters as escapes of JSON, `\u001b` for ESC.

    Line feeds, tabs and spaces of any width stay. JSON keeps its content.

    Examples
    --------
    >>> visible("ann\x1b[2J \u202e")
    'ann\\u001b[2J \\u202e'
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(one: str) -> str:
    if one.isprintable() or one in "\n\t" or category(one) == "Zs":
        return one
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))


class PlainStream:
    """Stream that shows control characters and survives a full disk or a reader that is gone.

    One without a name loses text that cannot be written; a `drawn` one, of hpcsched's own displays,
    lets control characters pass.
    """

    def __init__(self, out: TextIO, name: str | None = None, *, drawn: bool = False) -> None:
        self._out, self._name, self._drawn = out, name, drawn
        self._lost = False

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._out, attribute)

    @property
    def encoding(self) -> str:
        """Any text can be written; Click goes around a stream that says it knows ASCII alone."""
        own: str | None = getattr(self._out, "encoding", None)
        return own or "utf-8" if self._drawn else "utf-8"

    def write(self, text: str) -> int:
        """Write text; raises InputError where a stream with a name cannot be written."""
        shown = text if self._drawn else visible(text)
        if not shown:  # written by click to try the stream, and refused by full devices
            return 0
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        # Terminals without Unicode, and file names that are no text.
        self._try(self._out.write, shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream; raises InputError where a stream with a name cannot be written."""
        self._try(self._out.flush)

    def for_drawing(self) -> TextIO:
        """Return the stream that lets control characters pass."""
        return cast("TextIO", PlainStream(self._out, self._name, drawn=True))

    def _try(self, action: Callable[..., object], *given: str) -> None:
        if self._lost:
            return
        try:
            action(*given)
        except (OSError, ValueError) as error:
            self._lost = True
            # What is still buffered would fail once more when Python ends, with an exit code of its
            # own.
            with suppress(OSError, ValueError, AttributeError), _null() as sink:
                os.dup2(sink.fileno(), self._out.fileno())
            if self._name is None or not isinstance(error, OSError):
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise cannot_write(Path(self._name), error) from error


def for_drawing(stream: TextIO) -> TextIO:
    """Return the stream to which a display writes movements of the cursor and colours."""
    return stream.for_drawing() if isinstance(stream, PlainStream) else stream


def can_draw(stream: TextIO) -> bool:
    """Return True if a stream is a terminal with a movable cursor."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def rewrite_line(text: str) -> None:
    """Write a line on the terminal in the place of the one before; empty: remove it."""
    stream = for_drawing(sys.stderr)
    stream.write(f"\r\x1b[K{visible(text)}")
    stream.flush()


def _null() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


@contextmanager
def plain_streams() -> Iterator[None]:
    """Let all text on standard output and standard error pass through a `PlainStream`.

    A stream that was closed before the start takes text and loses it, as the null device does.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest free number; else the next file would be "standard error".
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    before = sys.stdout, sys.stderr
    sys.stdout = cast("TextIO", PlainStream(sys.stdout or _null(), "standard output"))
    sys.stderr = cast("TextIO", PlainStream(sys.stderr or _null()))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
