"""Signals that interrupt a command: those of Ctrl-C, a time limit and a closed connection."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


def heeded_signals() -> Sequence[signal.Signals]:
    """Return the signals that interrupt, without those to be ignored, as `nohup` lets SIGHUP be.

    SIGINT counts even in background jobs of shells: whoever runs a cell of an experiment sends it.
    """
    return [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if number is signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
    ]


@contextmanager
def raised_as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise `KeyboardInterrupt`, as SIGINT does.

    Handlers that another has set are kept. So is everything outside the main thread, which alone
    may handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in heeded_signals() if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
