"""Parallel compilation of several functions of a state."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from threading import RLock

from hpcsched.dispatching.core.compile_progress import CompileProgress
from hpcsched.dispatching.core.compile_time import compiling
from hpcsched.dispatching.core.state_function import StateFunction

_lock = RLock()


class _Worker:
    """Process that compiles one function; it blocks until its output is read."""

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
        """Wait for the code and load it; otherwise, the function is compiled when called."""
        from hpcsched.dispatching.core.stored_code import unpacked  # noqa: PLC0415 (LLVM)

        content, _ = self._process.communicate()
        made = unpacked(content, self._function.py_func)
        if made is not None:
            self._function.take(self._kinds, made)


def compile_all(functions: Sequence[StateFunction], kinds: str) -> None:
    """Compile those of the functions that are not compiled yet, for one set of field kinds.

    The first is compiled here, others meanwhile by processes of their own, one per available
    processor. If a process fails, its function is compiled here.

    Parameters
    ----------
    functions
        Functions of a state.
    kinds
        Kinds of the state's fields (see `machine_state`).
    """
    missing = [function for function in functions if not function.is_there((kinds,))]
    if not missing:
        return
    names = [function.py_func.__name__ for function in missing]
    # Workers take as long as this process at most: the slowest function comes first.
    here = [*missing[:1], *missing[_processors() :]]
    progress = CompileProgress(function.py_func for function in here)
    with compiling(anew=True, names=names, progress=progress), _lock, ExitStack() as stack:
        missing = [function for function in functions if not function.is_there((kinds,))]
        workers = []
        for function in missing[1 : _processors()]:
            with suppress(OSError):
                workers.append(_Worker(function, kinds, stack))
        # Compiled here meanwhile, so that one processor is not spent on waiting.
        for function in missing[:1]:
            function.address(kinds)
        for worker in workers:
            worker.hand_over()
        for function in missing:
            function.address(kinds)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
