"""Time of compiling or loading code, which is no decision time; numba is not needed.

The thread that waits for the code counts the time, and notifies its listener.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class _OfThread(threading.local):
    """Seconds of compiling, and listener, of a thread."""

    seconds = 0.0
    compiles = False
    tell: Callable[[], None] | None = None


_of_thread = _OfThread()


def seconds_deciding() -> float:
    """Return seconds of a clock that stops while this thread compiles or loads code."""
    return perf_counter() - _of_thread.seconds


@contextmanager
def compiling(*, anew: bool) -> Iterator[None]:
    """Count the time of a block as compiling.

    Parameters
    ----------
    anew
        True: code is compiled, and the listener is notified. False: stored code is loaded.
    """
    if anew and _of_thread.tell is not None:
        _of_thread.tell()
    if _of_thread.compiles:
        yield
        return
    began = perf_counter()
    _of_thread.compiles = True
    try:
        yield
    finally:
        _of_thread.compiles = False
        _of_thread.seconds += perf_counter() - began


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` each time before this thread compiles code, within a block."""
    before, _of_thread.tell = _of_thread.tell, tell
    try:
        yield
    finally:
        _of_thread.tell = before
