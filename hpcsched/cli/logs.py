"""Log messages of the program on standard error, chosen by `--verbose`.

Modules log to `logging.getLogger(__name__)`: warnings always show, information with `--verbose`.
"""

import logging
import sys

ROOT = "hpcsched"


class _StandardError(logging.Handler):
    """Writes messages to the standard error of the moment, which tests and shells replace."""

    def emit(self, record: logging.LogRecord) -> None:
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
    root = logging.getLogger(ROOT)
    # One handler, however many commands a process runs.
    if _HANDLER not in root.handlers:
        root.addHandler(_HANDLER)
    # Every command sets the level anew: tests and notebooks call several in one process.
    root.setLevel(logging.INFO if verbose else logging.WARNING)


def is_verbose() -> bool:
    """Return True if information is shown, not only warnings."""
    return logging.getLogger(ROOT).isEnabledFor(logging.INFO)
