"""The program of a `guard.SolverProcess`: solves tasks that come over a pipe.

The first message is a pickle of the formulation and the backend of the first task, so that what
they import does not count against that task; it is answered by `READY`. Each other one is that of a
task and is answered by that of an `Answer`.
"""

import ctypes
import gc
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from hpcsched.dispatching.cp.model_solving import Answer, solve

READY = b"ready"

_COMMAND = (
    "import sys; sys.path[:] = sys.argv[1:];"
    " from hpcsched.dispatching.cp.solver_process import main; main()"
)
_PR_SET_PDEATHSIG = 1


def command() -> Sequence[str]:
    """Return the command that starts the process, with this one's search path for modules.

    Not `-m`, which would look for hpcsched before the path is set.
    """
    return [sys.executable, "-c", _COMMAND, *map(str, sys.path)]


def main() -> None:
    """Solve tasks until the pipe is closed."""
    _end_with_parent()
    # Where memory runs out, the kernel ends this process rather than the run.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")
    _ignore_interrupts()
    channel = _take_pipe()
    _, backend = pickle.loads(channel.recv_bytes())
    backend.check_installed()
    gc.collect()
    gc.freeze()  # thousands of objects of CPMpy and the solver, which need not be looked at again
    # Until the parent has closed its end, or died.
    with suppress(EOFError, ConnectionError):
        channel.send_bytes(READY)
        while True:
            answer = _answer(channel.recv_bytes())
            _ignore_interrupts()  # CP-SAT leaves the default behind, which ends the process
            channel.send_bytes(answer)


def _answer(message: bytes) -> bytes:
    try:
        return pickle.dumps(solve(pickle.loads(message)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise  # only a fresh process gives back what this one has taken
    except BaseException as error:  # also SystemExit: a solver may not end what it runs in
        return pickle.dumps(Answer("failed", why=f"{type(error).__name__}: {error}"))


def _end_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, even in a solver that hangs.

    Elsewhere than on Linux it ends only once it reads the next task. The kernel takes the thread
    that started this process for its parent: `SolverProcess` starts another if that one ended.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops where it suits it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _take_pipe() -> Connection:
    """Move the pipe out of the solver's reach, which finds standard input empty."""
    channel = Connection(os.dup(0))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return channel
