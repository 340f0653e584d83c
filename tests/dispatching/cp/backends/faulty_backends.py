"""Backends that go wrong, for the solver's process to survive; each is pickled into it."""

import ctypes
import itertools
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Limits, Outcome
from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Variable
from hpcsched.dispatching.planning.model_data import ModelData

_C = ctypes.CDLL(None)
_C.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
_C.signal.restype = ctypes.c_void_p


class Still:
    """A formulation without a model, of which every start is `start`; needs no CPMpy."""

    fit: Fit = "exact"
    binds: Binds = "plan"

    def __init__(self, start: Any = 0) -> None:
        self._start = start

    def variables(self, data: ModelData) -> int:
        """Return no number of interest."""
        return data.job_count

    def magnitude(self, data: ModelData) -> int:
        """Return a number that suits every solver."""
        return 1

    def build(self, data: ModelData) -> BuiltModel:
        """Build nothing."""
        placed = np.zeros(data.room.shape, dtype=np.int64)
        starts = [self._start] * data.job_count
        return BuiltModel(None, starts, lambda: placed, lambda _: {})


class Does(NamedTuple):
    """A backend that does something instead of solving: `act` is called with `arguments`.

    Its answer is what that returns if it is an outcome, otherwise a good one: its objective is the
    number of the process.
    """

    act: Callable[..., object]
    arguments: tuple[Any, ...] = ()
    largest: int = 1 << 60
    largest_objective: int = 1 << 50
    deterministic: bool = True

    def check_installed(self) -> None:
        """Do nothing."""

    def load(self, built: BuiltModel) -> "Does":
        """Return itself as the session."""
        return self

    def add(self, constraint: Any) -> None:
        """Do nothing."""

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Act."""
        outcome = self.act(*self.arguments)
        return outcome if isinstance(outcome, Outcome) else Outcome("optimal", os.getpid(), 0.0)


class NotInstalled(Does):
    """A backend whose solver is not there."""

    __slots__ = ()

    def check_installed(self) -> None:
        """Say so."""
        raise ModuleNotFoundError("No module named 'no_such_solver'")


class DiesAtStart(Does):
    """A backend that ends the process before it is ready; one more line each time in a file."""

    __slots__ = ()

    def check_installed(self) -> None:
        """Note that a process was started, and end it."""
        with Path(self.arguments[0]).open("a") as starts:
            starts.write("started\n")
        os._exit(7)


class HangsAtStart(Does):
    """A backend that is never ready."""

    __slots__ = ()

    def check_installed(self) -> None:
        """Wait."""
        time.sleep(1000)


def nothing() -> None:
    """Solve at once."""


def fail(message: str = "no luck") -> None:
    """Raise an error."""
    raise ValueError(message)


def deadlock(note: str) -> None:
    """Wait in C for ever, whatever signal comes, after writing the process's number."""
    write_number(note)
    mutex = ctypes.create_string_buffer(256)
    for _ in range(2):
        _C.pthread_mutex_lock(mutex)


def killed_once(note: str) -> None:
    """Be killed in the first call, as where memory is short, and solve at once later."""
    if not Path(note).exists():
        write_number(note)
        os.kill(os.getpid(), signal.SIGKILL)


def write_number(note: str) -> None:
    """Write the process's number to a file."""
    unfinished = Path(f"{note}.unfinished")
    unfinished.write_text(str(os.getpid()))
    unfinished.replace(note)


def run_out_of_memory() -> None:
    """Raise what Python raises."""
    raise MemoryError("no room")


def end_program() -> None:
    """Do what a script does at its end."""
    sys.exit(5)


def leave(code: int = 3) -> None:
    """End the process without a word."""
    os._exit(code)


def leave_with_words(code: int = 3) -> None:
    """End the process with some."""
    os.write(2, b"first words\nlast words\n\n")
    os._exit(code)


def die_of(number: int) -> None:
    """Die of a signal."""
    os.kill(os.getpid(), number)
    time.sleep(10)


def crash() -> None:
    """Read from where nothing is."""
    ctypes.string_at(0)


def sleep_for(seconds: float = 1000.0, note: str | None = None) -> None:
    """Wait; the number of the process is in the file `note` from then on."""
    _note(note)
    time.sleep(seconds)


def spin(note: str | None = None) -> None:
    """Count for ever without giving back the interpreter's lock."""
    _note(note)
    sum(itertools.repeat(0))


def stop_listening() -> None:
    """Close all pipes and live on."""
    os.closerange(0, 100)
    time.sleep(1000)


def chatter(size: int) -> None:
    """Print more than a pipe holds, in all ways there are."""
    text = "garbage " * (size // 8)
    os.write(1, text.encode())
    os.write(2, text.encode())
    print(text, flush=True)  # noqa: T201 (what solvers do)
    sys.stdin.read()  # there is nothing to read, and no task to be lost


def answer(*parts: Any) -> Outcome:
    """Return an outcome made of whatever is given."""
    return Outcome(*parts)


class Unreadable:
    """What is pickled but cannot be read back."""

    def __reduce__(self) -> tuple[Any, ...]:
        return fail, ("unreadable",)


def answer_unreadably() -> Outcome:
    """Return an outcome that cannot be read back."""
    return Outcome(Unreadable(), 1)  # type: ignore[arg-type]


def answer_unpicklably() -> Outcome:
    """Return an outcome that cannot be pickled."""
    return Outcome("optimal", lambda: 1)  # type: ignore[arg-type]


def answer_otherwise() -> None:
    """Have the next task answered by a number."""
    import hpcsched.dispatching.cp.solver_process as process  # noqa: PLC0415

    process.solve = lambda _: 42  # type: ignore


def listen_to_interrupts() -> None:
    """Leave behind what CP-SAT leaves behind, which Python does not know of."""
    _C.signal(int(signal.SIGINT), None)


def listen_and_fail() -> None:
    """Do so, and raise an error."""
    listen_to_interrupts()
    fail()


def _note(file: str | None) -> None:
    """Write the number of the process to a file, all at once."""
    if file is not None:
        Path(file + ".part").write_text(str(os.getpid()))
        Path(file + ".part").rename(file)
