"""Compiles several functions of a state at once, where there are processors for that."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from threading import RLock

from hpcsched.dispatching.core.state_function import StateFunction

_lock = RLock()


class _Worker:
    """A process that compiles one function; it may wait until what it has made is asked for."""

    def __init__(self, function: StateFunction, kinds: str, stack: ExitStack) -> None:
        self._function, self._kinds = function, kinds
        module = "hpcsched.dispatching.core.code_worker"
        names = function.py_func.__module__, function.py_func.__name__
        self._process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-P", "-m", module, *names, kinds],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        stack.callback(self._process.kill)

    def hand_over(self) -> None:
        """Wait for the code and load it; if there is none of use, it is compiled when called."""
        from hpcsched.dispatching.core.kept_code import unpacked  # noqa: PLC0415 (LLVM)

        content, _ = self._process.communicate()
        made = unpacked(content, self._function.py_func)
        if made is not None:
            self._function.take(self._kinds, made)


def compile_all(functions: Sequence[StateFunction], kinds: str) -> None:
    """Compile those functions of a state that are not, for fields of some kinds.

    The first is compiled here, others by processes of their own meanwhile, as many as there are
    processors for. Whatever becomes of these, all functions are there in the end.
    """
    if all(function.is_there((kinds,)) for function in functions):
        return
    with _lock, ExitStack() as stack:
        missing = [function for function in functions if not function.is_there((kinds,))]
        workers = []
        for function in missing[1 : _processors()]:
            with suppress(OSError):
                workers.append(_Worker(function, kinds, stack))
        for function in missing[:1]:
            function.address(kinds)
        for worker in workers:
            worker.hand_over()
        for function in missing:
            function.address(kinds)


def _processors() -> int:
    """Return how many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
