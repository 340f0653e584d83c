"""Solver processes: no crash or overrun of a solver takes the run down.

Solvers overrun their limits (CP-SAT on large models: 17 s on a limit of 4 s), crash and run out of
memory. Calls therefore run in a process of their own, kept from one call to the next. Its first
message is a pickle of the formulation and the backend of the first task, so that imports do not
count against that task; each further one is a pickled task, answered by a pickled `Answer`.
"""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend, Limits, Outcome, total
from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation
from hpcsched.dispatching.decision import PROCESS, SOLVED, SOLVER_STATUSES, SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData, Plan

REPAIRS = 2
"""Number of further solves after placements that could not be carried out."""


class Task(NamedTuple):
    """A model to be solved; a hint is a plan to start from. Can be pickled."""

    formulation: Formulation
    data: ModelData
    backend: Backend | DataBackend
    limits: Limits
    hint: Plan | None = None


class Answer(NamedTuple):
    """The answer to a task.

    Attributes
    ----------
    status
        The outcome; there is a plan if it is `optimal` or `feasible`.
    objective, bound
        Objective and lower bound in the model's whole numbers; None if there is none.
    build_time, transform_time, solve_time
        Real seconds of each step.
    why
        Reason of a failure, or of an early end, in words.
    branches, fails
        Number of decisions and dead ends of the search; None if the solver does not count them.
    """

    status: SolverStatus
    plan: Plan | None = None
    objective: int | None = None
    bound: float | None = None
    variables: int = 0
    build_time: float = 0.0
    transform_time: float = 0.0
    solve_time: float = 0.0
    why: str = ""
    branches: int | None = None
    fails: int | None = None


def largest_number(formulation: Formulation, data: ModelData) -> int:
    """Return the largest number in a model's constraints, those of shared resources included."""
    shared = data.shared_resources
    drawn = 0 if shared is None else int(shared.capacity.max()) * data.horizon
    return max(formulation.magnitude(data), drawn)


def solve(task: Task) -> Answer:
    """Solve a task in this process; exceptions of the solver are raised."""
    formulation, data, backend, limits, hint = task
    magnitude = largest_number(formulation, data)
    if magnitude > backend.largest:
        return Answer("overflow", why=f"numbers up to {magnitude}")
    if isinstance(backend, DataBackend):
        found: Answer = backend.solve(formulation, data, limits, hint)
        return found
    began = perf_counter()
    built = formulation.build(data)
    loaded = perf_counter()
    session = backend.load(built)
    ready = perf_counter()
    values = built.hint(hint) if hint is not None else None
    outcome = session.solve(limits, values)
    searches = [outcome]
    plan = _plan(built, outcome)
    for _ in range(REPAIRS):
        if plan is None or built.forbid is None or _is_placed(plan, data):
            break
        session.add(built.forbid())
        again = session.solve(limits, values)
        searches.append(again)
        # The plan before is still of use: jobs that it starts without nodes are no fault (see
        # `SolverClient`).
        if again.objective is None:
            break
        # Only the first bound holds for the problem. What was forbidden since may have failed for
        # want of a better packing, so later bounds are those of a smaller problem.
        proved = outcome.bound is not None and again.objective <= outcome.bound
        outcome = again._replace(status="optimal" if proved else "feasible", bound=outcome.bound)
        plan = _plan(built, outcome)
    return Answer(
        outcome.status,
        plan,
        outcome.objective,
        outcome.bound,
        formulation.variables(data),
        loaded - began,
        ready - loaded,
        perf_counter() - ready,
        branches=total([one.branches for one in searches]),
        fails=total([one.fails for one in searches]),
    )


def _plan(built: BuiltModel, outcome: Outcome) -> Plan | None:
    """Return the plan in the solver's variables, or None without a solution.

    Unconstrained start variables get 0. It is to be read at once: solving again may clear them.
    """
    if outcome.objective is None:
        return None
    values = [start if isinstance(start, int) else start.value() or 0 for start in built.starts]
    return Plan(np.array(values, dtype=np.int64), built.placed())


def _is_placed(plan: Plan, data: ModelData) -> bool:
    """Say whether every job that starts now has found its nodes."""
    return bool((plan.placed.sum(axis=1) == data.units)[plan.starts == 0].all())


def checked_answer(answer: Any) -> Answer:
    """Return an answer after a check of its types; raises TypeError.

    Whether the plan can be executed is not checked.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"a solver's answer is an Answer, found {type(answer).__name__}")
    status, plan = answer.status, answer.plan
    if status not in SOLVER_STATUSES:
        raise TypeError(f"{status!r} is no status of a solver")
    if (plan is not None) != (status in SOLVED):
        raise TypeError(f"{'no' if plan is None else 'a'} plan with the status {status}")
    if plan is not None and not all(
        isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in plan
    ):
        raise TypeError("a plan is made of arrays of whole numbers")
    return answer


START_SECONDS = 60.0
"""Time limit of a process's start, in seconds: it reads a lot from what may be a slow disk."""

STARTS = 3
"""Number of failed starts in a row after which no other is tried."""

_DEATH_SECONDS = 1.0
"""Time limit for a process to end after its pipe was closed, in seconds."""

_KILL_SECONDS = 10.0
"""Time limit for the end of a killed process, in seconds; it may be stuck in the kernel."""

# Not `-m`, which would look for hpcsched before the path is set.
_COMMAND = (
    "import sys; sys.path[:] = sys.argv[1:];"
    " from hpcsched.dispatching.cp.solver_process import main; main()"
)

_PR_SET_PDEATHSIG = 1


class Solver(Protocol):
    """Solves tasks; every failure is a status of the answer."""

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task within a time limit in real seconds; None: no limit."""

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

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task; the process is killed after a number of seconds."""
        began = perf_counter()
        try:
            child = self._ready_child(task)
            message = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            answer = checked_answer(pickle.loads(self._exchange(child, message, seconds)))
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

    def _ready_child(self, task: Task) -> "_Child":
        """Return the process; raises _GoneError if none can be started."""
        if self._child is not None:
            if self._child.is_alive():
                return self._child
            self.close()
        if self._failed_starts == STARTS:
            raise _GoneError(self._why)
        setup = pickle.dumps((task.formulation, task.backend), pickle.HIGHEST_PROTOCOL)
        self._failed_starts += 1
        try:
            child = _Child()
            # Runs as well when Python exits, so that no solver outlives its run.
            self._end = weakref.finalize(self, child.end)
            self._exchange(child, setup, START_SECONDS)
        except _OverrunError:
            self._why = f"{PROCESS} was not ready after {START_SECONDS:g} s"
        except _GoneError as error:
            self._why = str(error)
        except OSError as error:
            self._why = f"{PROCESS} cannot be started: {error}"
        else:
            self._failed_starts = 0
            self._child = child
            return child
        raise _GoneError(self._why)


class InProcess:
    """Solves in this process: errors are caught, but nothing ends a call that overruns.

    `seconds` is not looked at, and a solver that crashes ends the run.
    """

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task, however long it takes."""
        began = perf_counter()
        on_interrupt = signal.getsignal(signal.SIGINT)
        try:
            answer = checked_answer(solve(task))
        except Exception as error:
            answer = _failed(error)
        finally:
            # CP-SAT leaves the default behind, with which Ctrl-C ends the run without a word.
            if on_interrupt and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, on_interrupt)
        return _timed(answer, began)

    def close(self) -> None:
        """Do nothing."""


def _failed(error: BaseException) -> Answer:
    return Answer("failed", why=f"{type(error).__name__}: {error}")


def _timed(answer: Answer, began: float) -> Answer:
    """Return an answer with the time that was lost on it, if it has no times."""
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
        self._channel, theirs = Pipe()
        # Not a pipe, which the solver could fill.
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (`end` closes it)
        with theirs:
            try:
                # In a process group of its own, so that Ctrl-C does not reach the solver, which may
                # stop early and answer as if nothing had happened, and so that what it starts is
                # killed with it. Hashes of names are fixed, so that a restart changes no answer.
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _COMMAND, *map(str, sys.path)],
                    stdin=theirs.fileno(),
                    stdout=self._log,
                    stderr=self._log,
                    env=os.environ | {"PYTHONHASHSEED": "0"},
                    process_group=0,
                )
            except OSError:
                self._channel.close()
                self._log.close()
                raise

    def is_alive(self) -> bool:
        return self._process.poll() is None

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
            return self._channel.recv_bytes()
        except (EOFError, OSError):
            if late.is_set():
                raise _OverrunError from None
            raise _GoneError(self._cause_of_death()) from None
        finally:
            watchdog.cancel()
            watchdog.join()

    def _cause_of_death(self) -> str:
        """Return the way the process ended, and its last line of output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DEATH_SECONDS)
        code = self._process.returncode
        if code is None:
            cause = f"{PROCESS} closed its pipe"
        elif -code in set(signal.Signals):
            cause = f"{PROCESS} was killed by {signal.Signals(-code).name}"
        else:
            cause = f"{PROCESS} ended with exit code {code}"
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4096))
        lines = self._log.read().decode(errors="replace").split("\n")
        return ": ".join([cause, *[line.strip() for line in lines if line.strip()][-1:]])

    def _kill(self) -> None:
        """Kill the process and its children."""
        if self.is_alive():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process and close the pipe."""
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)
        self._channel.close()
        self._log.close()


def main() -> None:
    """Solve tasks until the pipe is closed."""
    # The kernel kills this process when the thread that started it ends, even if a solver hangs;
    # elsewhere than on Linux it ends when it reads the next task.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _ignore_interrupts()
    # The pipe is moved out of the solver's reach, which finds standard input empty.
    channel = Connection(os.dup(0))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    _, backend = pickle.loads(channel.recv_bytes())
    backend.check_installed()
    # Until the parent has closed its end, or died.
    with suppress(EOFError, ConnectionError):
        channel.send_bytes(b"ready")
        while True:
            answer = _answer(channel.recv_bytes())
            _ignore_interrupts()  # CP-SAT leaves the default behind, which ends the process
            channel.send_bytes(answer)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which stops where it suits it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(message: bytes) -> bytes:
    try:
        return pickle.dumps(solve(pickle.loads(message)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise  # only a fresh process gives back what this one has taken
    except BaseException as error:  # also SystemExit: a solver may not end what it runs in
        return pickle.dumps(_failed(error))
