"""Time of compiling or loading code, which is no decision time; numba is not needed.

The thread that waits for the code counts the time, and notifies its listener, or that of the
process.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from hpcsched.dispatching.core.compile_lock import one_at_a_time

if TYPE_CHECKING:
    from hpcsched.dispatching.core.compile_progress import CompileProgress


class Compilation(Protocol):
    """Protocol of an object that is notified of one compilation."""

    def proceeds(self, share: float) -> None:
        """Handle the share of the compilation that is done, from 0 to 1."""

    def ends(self, seconds: float | None) -> None:
        """Handle the end, after some real seconds; None if another process compiled meanwhile."""


class CompileListener(Protocol):
    """Protocol of an object that is notified of code that is compiled anew."""

    def begins(self, names: Sequence[str]) -> Compilation:
        """Handle the begin: the functions that are compiled at once, by name."""


class _OfThread(threading.local):
    """Seconds of compiling, and listener, of a thread."""

    seconds = 0.0
    compiles = False
    listener: CompileListener | None = None
    compilation: Compilation | None = None
    progress: "CompileProgress | None" = None


class _OfProcess:
    """Listener of threads without one of their own."""

    listener: CompileListener | None = None


_of_thread = _OfThread()


def seconds_deciding() -> float:
    """Return seconds of a clock that stops while this thread compiles or loads code."""
    return perf_counter() - _of_thread.seconds


@contextmanager
def compiling(
    *, anew: bool, names: Sequence[str] = (), progress: "CompileProgress | None" = None
) -> Iterator[None]:
    """Count the time of a block as compiling.

    Where code is compiled, the block begins when no other process compiles the same: it should look
    for stored code first.

    Parameters
    ----------
    anew
        True: code is compiled, and the listener is notified. False: stored code is loaded.
    names
        Names of the functions that are compiled.
    progress
        Progress of their compilation, of which the listener is notified.
    """
    if _of_thread.compiles:
        yield
        return
    listener = (_of_thread.listener or _OfProcess.listener) if anew else None
    began = perf_counter()
    _of_thread.compiles = True
    compilation = None if listener is None else listener.begins(names)
    _of_thread.compilation, _of_thread.progress = compilation, progress
    by_another = False
    try:
        with one_at_a_time(names) if anew else nullcontext(False) as by_another:
            yield
    finally:
        _of_thread.compiles = False
        seconds = perf_counter() - began
        _of_thread.seconds += seconds
        _of_thread.compilation = _of_thread.progress = None
        if compilation is not None:
            compilation.ends(None if by_another else seconds)


def function_begins(
    function: Callable[..., object], called: Iterable[Callable[..., object]]
) -> None:
    """Notify this thread's listener that one of the functions of a compilation begins.

    Parameters
    ----------
    function
        The function in Python.
    called
        The functions that it calls, for its types of arguments.
    """
    progress, compilation = _of_thread.progress, _of_thread.compilation
    if progress is not None and compilation is not None:
        progress.begins(function, called)
        compilation.proceeds(progress.share)


@contextmanager
def told_of_compiling(listener: CompileListener) -> Iterator[None]:
    """Notify a listener each time this thread compiles code, within a block."""
    before, _of_thread.listener = _of_thread.listener, listener
    try:
        yield
    finally:
        _of_thread.listener = before


def listener_of_process() -> CompileListener | None:
    """Return the listener of threads without one of their own."""
    return _OfProcess.listener


def tell_of_compiling(listener: CompileListener | None) -> None:
    """Notify a listener of code that threads without a listener of their own compile."""
    _OfProcess.listener = listener
