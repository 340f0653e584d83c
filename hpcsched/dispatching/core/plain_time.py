"""Real seconds that kernels have taken in plain Python; they decide on speed alone.

Compiled code has the same results. To load it takes about a second, once in a process, and to
compile it some more, so that both wait until plain Python has taken as long.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LOADING_TAKES = 1.0
"""Seconds in Python, of a process, after which loading compiled code from the cache pays."""
COMPILING_TAKES = 15.0
"""Seconds in Python, of one caller, after which compiling pays."""


class _OfThread(threading.local):
    """Request of a thread for compiled code from the first call on."""

    wants_code = False


_of_thread = _OfThread()


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """Let this thread use compiled code from the first call on, and compile it if needed."""
    before, _of_thread.wants_code = _of_thread.wants_code, True
    try:
        yield
    finally:
        _of_thread.wants_code = before


class PlainTime:
    """Seconds that one caller of kernels has taken in plain Python, and all of the process."""

    _of_process = 0.0

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """Add the seconds of a call."""
        self._seconds += seconds
        # A process that replays many small logs loads code for all of them. Threads may lose each
        # other's seconds here, which delays the loading a little.
        PlainTime._of_process += seconds

    @property
    def compiling_pays(self) -> bool:
        """True if this caller has taken so long that compiling would have paid."""
        return _of_thread.wants_code or self._seconds > COMPILING_TAKES

    @property
    def loading_pays(self) -> bool:
        """True if the process has taken so long that loading compiled code would have paid."""
        return PlainTime._of_process > LOADING_TAKES
