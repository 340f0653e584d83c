"""Solver processes: no crash or overrun of a solver takes the run down.

Solvers overrun their limits (CP-SAT on large models: 17 s on a limit of 4 s), crash and run out of
memory. A call therefore has a process of its own, kept from one call to the next. It runs `main`:
the first message is a pickle of the formulation and the backend of the first task, so that what
they import does not count against that task; it is answered by `READY`. Each other one is that of a
task and is answered by that of an `Answer`.
"""

import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, sleep
from typing import Protocol

from hpcsched.dispatching.cp.model_solving import Answer, Task, checked_answer, solve
from hpcsched.dispatching.decision import PROCESS
from hpcsched.interrupts import killed_where_stuck
from hpcsched.process_memory import resident_memory

START_SECONDS = 60.0
"""Time limit of a process's start, in seconds: it reads a lot from what may be a slow disk."""

LEAST_START_SECONDS = 10.0
"""The same under a time limit of calls that is shorter: importing a solver takes some seconds."""

STARTS = 3
"""Number of failed starts in a row after which the next ones have to wait."""

REST = 20.0
"""Wait before another start, as a multiple of the time that the last one took to fail.

Memory that is short may be there later, and a solver that never starts takes 5 % of the time.
"""

_MOST_GROWTH = 2 << 30
"""Growth of a process, in bytes, after which the next task gets a new one.

A run has tens of thousands of models; what a solver loses with each of them adds up.
"""

_LOOK_SECONDS = 1.0
"""Interval of checks that the process lives, in seconds, for pipes that something else keeps open.
"""

_DEATH_SECONDS = 1.0
"""Time limit for a process to end after its pipes were closed, in seconds."""

_KILL_SECONDS = 10.0
"""Time limit for the end of a killed process, in seconds; it may be stuck in the kernel."""

_STUCK_SECONDS = 1.5
"""Time limit of a call in this process after a signal, in seconds."""

_LOG_END = 4096

READY = b"ready"

_COMMAND = (
    "import sys; sys.path[:] = sys.argv[1:];"
    " from hpcsched.dispatching.cp.solver_process import main; main()"
)

_PR_SET_PDEATHSIG = 1


class Solver(Protocol):
    """Solves tasks; every failure is a status of the answer."""

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task.

        Parameters
        ----------
        seconds
            Time limit in real seconds; None: no limit.
        """

    def close(self) -> None:
        """Release all resources; may be called again, and so may `solve`."""


class SolverProcess:
    """Solves in a process of its own, which is started when first needed, and again after it died.

    Starting it is not counted as part of a call. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._child: _Child | None = None
        self._end: Callable[[], object] | None = None
        self._failed_starts = 0
        self._why = ""
        self._rests_until = 0.0

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task; the process is killed if that takes longer than so many seconds."""
        began = perf_counter()
        try:
            child = self._ready_child(task, seconds)
            message = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            answer = checked_answer(pickle.loads(self._exchange(child, message, seconds)))
            if child.growth() > _MOST_GROWTH:
                self.close()
        except _OverrunError:
            answer = Answer("overrun", why=f"no answer after {seconds:g} s")
        except _GoneError as error:
            answer = Answer("failed", why=str(error))
        except Exception as error:  # the task cannot be pickled, or the answer not be read
            answer = _failed(error)
        return _timed(answer, began)

    def __deepcopy__(self, _: object) -> "Solver":
        # Answers depend on the task alone, so that copies of a dispatcher can share the process.
        return self

    def close(self) -> None:
        """End the process."""
        if self._end is not None:
            self._end()
        self._child = self._end = None

    def _exchange(self, child: "_Child", message: bytes, seconds: float | None) -> bytes:
        try:
            return child.ask(message, seconds)
        except BaseException:
            # Also Ctrl-C: what is still to come would be taken for the answer to another task.
            self.close()
            raise

    def _ready_child(self, task: Task, seconds: float | None) -> "_Child":
        """Return the process; raises _GoneError where there is none to be had."""
        if self._child is not None:
            if self._child.is_alive():
                return self._child
            self.close()
        began = perf_counter()
        # Each further start could take its whole time limit, round after round.
        if began < self._rests_until:
            raise _GoneError(self._why)
        setup = pickle.dumps((task.formulation, task.backend), pickle.HIGHEST_PROTOCOL)
        limit = START_SECONDS
        if seconds is not None:
            limit = min(limit, max(seconds, LEAST_START_SECONDS))
        try:
            child = _Child()
            # Runs as well when Python exits, so that no solver outlives its run.
            self._end = weakref.finalize(self, child.end)
            greeting = self._exchange(child, setup, limit)
        except _OverrunError:
            self._why = f"{PROCESS} was not ready after {limit:g} s"
        except _GoneError as error:
            self._why = str(error)
        except OSError as error:
            self._why = f"{PROCESS} cannot be started: {error}"
        else:
            if greeting == READY:
                self._failed_starts = 0
                child.memory = child.growth()
                self._child = child
                return child
            self._why = f"{PROCESS} said something else than that it is ready"
        self.close()
        self._failed_starts += 1
        if self._failed_starts >= STARTS:
            now = perf_counter()
            self._rests_until = now + REST * (now - began)
        raise _GoneError(self._why)


class InProcess:
    """Solves in this process: errors are caught, but nothing ends a call that overruns.

    `seconds` is not looked at, and a solver that crashes ends the run, as does one that goes on
    after Ctrl-C.
    """

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task, however long it takes."""
        began = perf_counter()
        on_interrupt = signal.getsignal(signal.SIGINT)
        try:
            with killed_where_stuck(_STUCK_SECONDS):
                solved = solve(task)
            answer = checked_answer(solved)
        except Exception as error:
            answer = _failed(error)
        finally:
            # CP-SAT leaves the default behind, with which Ctrl-C ends the run without a word.
            if on_interrupt and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, on_interrupt)
        return _timed(answer, began)

    def close(self) -> None:
        """Do nothing."""


def _failed(error: Exception) -> Answer:
    """Return the answer of a call that raised an error."""
    return Answer("failed", why=f"{type(error).__name__}: {error}")


def _timed(answer: Answer, began: float) -> Answer:
    """Return an answer with the time that was lost on it, where it says nothing of times."""
    if answer.status not in ("failed", "overrun") or answer.solve_time:
        return answer
    return answer._replace(solve_time=perf_counter() - began)


class _OverrunError(Exception):
    """The solver's process has not answered in time."""


class _GoneError(Exception):
    """The solver's process is not there, or no longer: says why."""


class _Child:
    """A process that runs, and the pipe to it."""

    def __init__(self) -> None:
        # A fork copies this object, but the process has one parent: only that may wait for it or
        # kill it.
        self._owner = os.getpid()
        self._channel, theirs = Pipe()
        # Not a pipe, which the solver could fill.
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (`end` closes it)
        try:
            # In a process group of its own, so that Ctrl-C does not reach the solver, which may
            # stop early and answer as if nothing had happened, and so that what it starts can be
            # killed with it. The hashes of names are fixed, so that a restart changes no answer.
            self._process = subprocess.Popen(
                command(),
                stdin=theirs.fileno(),
                stdout=self._log,
                stderr=self._log,
                env=os.environ | {"PYTHONHASHSEED": "0"},
                process_group=0,
            )
        except BaseException:
            self._channel.close()
            self._log.close()
            raise
        finally:
            theirs.close()
        self.memory = 0

    def growth(self) -> int:
        """Return the resident memory beyond `memory`, in bytes; 0 if it is unknown."""
        found = resident_memory(self._process.pid)
        return 0 if found is None else found - self.memory

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Send a message and return the next one.

        Raises _OverrunError after so many seconds (None: no limit), and _GoneError.
        """
        # The child writes where this file is, as it shares it.
        self._log.truncate(0)
        self._log.seek(0)
        late = threading.Event()

        def end_late() -> None:
            late.set()
            self._kill()

        # Killing it ends whatever this thread waits for: to send, or to receive.
        watchdog = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, end_late)
        watchdog.daemon = True
        watchdog.start()
        try:
            self._channel.send_bytes(message)
            while not self._channel.poll(_LOOK_SECONDS):
                # Where it is stuck in the kernel, it outlives the watchdog for a while.
                if late.is_set() or not self.is_alive():
                    raise EOFError
            return self._channel.recv_bytes()
        except (EOFError, OSError):
            if late.is_set():
                raise _OverrunError from None
            raise _GoneError(self._cause_of_death()) from None
        finally:
            watchdog.cancel()
            watchdog.join()

    def is_alive(self) -> bool:
        """Say whether the process runs, leaving its exit code where it is."""
        if self._owner != os.getpid():
            return False  # a fork of the process that started this one
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, options) is None
        except ChildProcessError:
            return False

    def _cause_of_death(self) -> str:
        """End the process, if it still runs; return the way it ended and its last output line."""
        deadline = perf_counter() + _DEATH_SECONDS
        while (alive := self.is_alive()) and perf_counter() < deadline:
            sleep(0.001)
        self._kill_and_wait()
        code = self._process.returncode
        if alive:
            cause = f"{PROCESS} closed its pipe"
        elif code is not None and code < 0:
            cause = f"{PROCESS} was killed by {_signal_name(-code)}"
        else:
            cause = f"{PROCESS} ended with exit code {code}"
        return ": ".join([cause, *self._last_line()])

    def _last_line(self) -> list[str]:
        """Return the last line that was written since the last message was sent, if any."""
        start = max(0, self._log.seek(0, os.SEEK_END) - _LOG_END)
        self._log.seek(start)
        lines = self._log.read().decode(errors="replace").split("\n")
        return [line.strip() for line in lines if line.strip()][-1:]

    def _kill(self) -> None:
        """Kill the process and its children.

        Also where it is dead: it keeps its number until it is waited for.
        """
        if self._owner == os.getpid() and self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _kill_and_wait(self) -> None:
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)

    def end(self) -> None:
        """Kill the process and close the pipe."""
        self._kill_and_wait()
        self._channel.close()
        self._log.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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
