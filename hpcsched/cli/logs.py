"""Log messages of the program on standard error, chosen by `--verbose`.

Modules log to `logging.getLogger(__name__)`: warnings always show, information with `--verbose`.
Notes about a wait, such as for the compiler, go to the logger `hpcsched.progress` and always show.
"""

import logging
import sys
from contextlib import nullcontext
from shutil import get_terminal_size

from hpcsched.terminal import can_draw, rewrite_line

ROOT = "hpcsched"
PROGRESS = "hpcsched.progress"


class _StandardError(logging.Handler):
    """Writes messages to the standard error of the moment, which tests and shells replace."""

    _updated = False

    def update(self, text: str) -> None:
        """Write a line in the place of the one before, on a terminal; empty: remove it."""
        with self.lock or nullcontext():
            if text or self._updated:
                shown = text[: get_terminal_size().columns - 1]
                rewrite_line(shown)
            self._updated = bool(text)

    def emit(self, record: logging.LogRecord) -> None:
        self.update("")
        label = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        sys.stderr.write(f"{label}{record.getMessage()}\n")


_HANDLER = _StandardError()


def show_logs(*, verbose: bool) -> None:
    """Show log messages of the program on standard error.

    Parameters
    ----------
    verbose
        Whether to show information too, not only warnings.
    """
    # Neither --help nor --version needs them.
    from hpcsched.dispatching.core.compile_time import tell_of_compiling
    from hpcsched.monitoring.compile_notes import CompileNotes

    root = logging.getLogger(ROOT)
    # One handler, however many commands a process runs.
    if _HANDLER not in root.handlers:
        root.addHandler(_HANDLER)
    # Every command sets the level anew: tests and notebooks call several in one process.
    root.setLevel(logging.INFO if verbose else logging.WARNING)
    logging.getLogger(PROGRESS).setLevel(logging.INFO)
    # Commands without a listener of their own, and threads, tell of compiling as well.
    in_place = can_draw(sys.stderr)
    tell_of_compiling(CompileNotes(update=_HANDLER.update if in_place else None))


def is_verbose() -> bool:
    """Return True if information is shown, not only warnings."""
    return logging.getLogger(ROOT).isEnabledFor(logging.INFO)
