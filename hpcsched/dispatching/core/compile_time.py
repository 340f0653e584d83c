"""How long code is compiled or loaded, which is no time that a decision takes; numba is not needed.

Both is counted, and told, by the thread that waits for it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class _OfThread(threading.local):
    """What a thread has spent, whether it is compiling, and what wants to be told of that."""

    seconds = 0.0
    compiles = False
    tell: Callable[[], None] | None = None


_of_thread = _OfThread()


def seconds_deciding() -> float:
    """Return what a clock shows that stands still while this thread compiles or loads code."""
    return perf_counter() - _of_thread.seconds


@contextmanager
def compiling(*, anew: bool) -> Iterator[None]:
    """Count the time of what is done; it is compiled `anew`, which is told, or only loaded."""
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
    """Have `tell` be called each time before this thread compiles something anew."""
    before, _of_thread.tell = _of_thread.tell, tell
    try:
        yield
    finally:
        _of_thread.tell = before
