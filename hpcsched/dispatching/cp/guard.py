"""Solver processes: no crash or overrun of a solver takes the run down.

Solvers overrun their limits (CP-SAT on large models: 17 s on a limit of 4 s), crash and run out of
memory. A call therefore has a process of its own, kept from one call to the next.
"""

import os
import pickle
import select
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from time import perf_counter, sleep
from types import TracebackType
from typing import Protocol, Self

from hpcsched.dispatching.cp.answer_check import checked_answer
from hpcsched.dispatching.cp.in_process import failed, timed
from hpcsched.dispatching.cp.model_solving import Answer, Task
from hpcsched.dispatching.cp.solver_process import LENGTH, READY, command
from hpcsched.dispatching.decision import PROCESS
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

_LOG_SIZE = 1 << 20
_LOG_END = 4096


class Solver(Protocol):
    """Solves tasks; every failure is a status of the answer."""

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task.

        Parameters
        ----------
        task
            The model and its limits.
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task; the process is killed if that takes longer.

        Parameters
        ----------
        task
            The model and its limits.
        seconds
            Time limit in real seconds; None: no limit.
        """
        began = perf_counter()
        try:
            child = self._ready_child(task, seconds)
            # Pickled before the deadline is set, so that large models lose no solver time to it.
            message = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            deadline = None if seconds is None else perf_counter() + seconds
            answer = checked_answer(pickle.loads(self._exchange(child, message, deadline)))
            if child.growth() > _MOST_GROWTH:
                self.close()
        except _OverrunError:
            answer = Answer("overrun", why=f"no answer after {seconds:g} s")
        except (_StartError, _GoneError) as error:
            answer = Answer("failed", why=str(error))
        except Exception as error:  # the task cannot be pickled, or the answer not be read
            answer = failed(error)
        return timed(answer, began)

    def __deepcopy__(self, _: object) -> "Solver":
        # Answers depend on the task alone, so that copies of a dispatcher can share the process.
        return self

    def close(self) -> None:
        """End the process."""
        if self._end is not None:
            self._end()
        self._child = self._end = None

    def _exchange(self, child: "_Child", message: bytes, deadline: float | None) -> bytearray:
        try:
            return child.ask(message, deadline)
        except BaseException:
            # Also Ctrl-C: what is still to come would be taken for the answer to another task.
            self.close()
            raise

    def _ready_child(self, task: Task, seconds: float | None) -> "_Child":
        """Return the process; raises _StartError where there is none to be had."""
        if self._child is not None:
            if self._child.is_alive():
                return self._child
            self.close()
        began = perf_counter()
        # Each further start could take its whole time limit, round after round.
        if began < self._rests_until:
            raise _StartError(self._why)
        setup = pickle.dumps((task.formulation, task.backend), pickle.HIGHEST_PROTOCOL)
        limit = START_SECONDS
        if seconds is not None:
            limit = min(limit, max(seconds, LEAST_START_SECONDS))
        deadline = began + limit
        try:
            child = _Child()
            # Runs as well when Python exits, so that no solver outlives its run.
            self._end = weakref.finalize(self, child.end)
            greeting = self._exchange(child, setup, deadline)
        except _OverrunError:
            why = f"{PROCESS} was not ready after {limit:g} s"
        except _GoneError as error:
            why = str(error)
        except OSError as error:
            why = f"{PROCESS} cannot be started: {error}"
        else:
            if greeting == READY:
                self._failed_starts = 0
                child.memory = child.growth()
                self._child = child
                return child
            why = f"{PROCESS} said something else than that it is ready"
        self.close()
        self._failed_starts += 1
        self._why = why
        if self._failed_starts >= STARTS:
            now = perf_counter()
            self._rests_until = now + REST * (now - began)
        raise _StartError(why)


class _StartError(Exception):
    """The solver's process did not start."""


class _OverrunError(Exception):
    """The solver's process has not answered in time."""


class _GoneError(Exception):
    """The solver's process is no longer there: says why."""


class _Child:
    """A process that runs, and the pipes to it.

    Attributes
    ----------
    memory : int
        Resident memory of the process when it was ready, in bytes; 0 before.
    """

    def __init__(self) -> None:
        # A fork copies this object, but the process has one parent: only that may wait for it or
        # kill it.
        self._owner = os.getpid()
        # Not a pipe, which the solver could fill.
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (`end` closes it)
        try:
            # In a process group of its own, so that Ctrl-C does not reach the solver, which may
            # stop early and answer as if nothing had happened, and so that what it starts can be
            # killed with it. The hashes of names are fixed, so that a restart changes no answer.
            self._process = subprocess.Popen(
                command(),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=os.environ | {"PYTHONHASHSEED": "0"},
                process_group=0,
            )
        except BaseException:
            self._log.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = (self._process.stdin, self._process.stdout)
        self._requests, self._answers = (pipe.fileno() for pipe in self._pipes)
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe, False)
        self._log_start = 0
        self.memory = 0

    def growth(self) -> int:
        """Return the resident memory beyond `memory`, in bytes; 0 if it is unknown."""
        found = resident_memory(self._process.pid)
        return 0 if found is None else found - self.memory

    def ask(self, message: bytes, deadline: float | None) -> bytearray:
        """Send a message and return the next one.

        Raises _OverrunError at the deadline, and _GoneError.

        Parameters
        ----------
        message
            The message.
        deadline
            Deadline by `perf_counter`, in seconds; None: no deadline.
        """
        try:
            self._send(message, deadline)
            (size,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
            return self._read(size, deadline)
        except EOFError:
            raise _GoneError(self._cause_of_death()) from None

    def _send(self, message: bytes, deadline: float | None) -> None:
        self._log_start = os.fstat(self._log.fileno()).st_size
        if self._log_start > _LOG_SIZE:  # the child writes where this file is, as it shares it
            self._log.truncate(0)
            self._log.seek(0)
            self._log_start = 0
        rest = memoryview(LENGTH.pack(len(message)) + message)
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:
                self._wait(self._requests, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise EOFError from None

    def _read(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            try:
                count = os.readv(self._answers, [rest])
            except BlockingIOError:
                self._wait(self._answers, select.POLLIN, deadline)
                continue
            if not count:
                raise EOFError
            rest = rest[count:]
        return data

    def _wait(self, pipe: int, event: int, deadline: float | None) -> None:
        """Wait until a pipe is ready, or its other end closed."""
        poll = select.poll()
        poll.register(pipe, event)
        while True:
            seconds = _LOOK_SECONDS
            if deadline is not None:
                seconds = min(seconds, deadline - perf_counter())
                if seconds <= 0:
                    raise _OverrunError
            if poll.poll(ceil(seconds * 1000)):
                return
            if not self.is_alive():
                raise EOFError

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
        self._kill()
        code = self._process.returncode
        if alive:
            cause = f"{PROCESS} closed its pipe"
        elif code is not None and code < 0:
            cause = f"{PROCESS} was killed by {_signal_name(-code)}"
        else:
            cause = f"{PROCESS} ended with exit code {code}"
        line = self._last_line()
        return f"{cause}: {line}" if line else cause

    def _last_line(self) -> str:
        """Return the last line that was written since the last message was sent."""
        file = self._log.fileno()
        start = max(self._log_start, os.fstat(file).st_size - _LOG_END)
        lines = os.pread(file, _LOG_END, start).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _kill(self) -> None:
        """Kill the process and its children.

        Also where it is dead: it keeps its number until it is waited for, here.
        """
        if self._owner != os.getpid() or self._process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)

    def end(self) -> None:
        """Kill the process and close the pipes."""
        self._kill()
        for file in (*self._pipes, self._log):
            file.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
