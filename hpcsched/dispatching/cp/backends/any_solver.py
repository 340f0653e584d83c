"""Any solver that CPMpy knows, by CPMpy's own interface alone."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import cpmpy as cp

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.restarting import ClockedRun, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import AnySolverParams
from hpcsched.dispatching.cp.formulation import BuiltModel
from hpcsched.errors import PluginError
from hpcsched.registration import builtin


@builtin(
    "solver",
    "cpmpy",
    AnySolverParams,
    summary="any other solver that CPMpy knows, by name; it stops by the clock",
)
class AnySolver(NamedTuple):
    """A solver of CPMpy.

    - The work of a budget is in seconds of the clock.
    - A hint is where the search begins, where the solver can be told.
    - Decision strategies of formulations are not followed.
    - Numbers are kept to what solvers of 32 bits add up without an overflow.
    """

    solver: str
    largest: int = 1 << 28
    largest_objective: int = 1 << 28
    deterministic: bool = False

    @classmethod
    def build(cls, params: AnySolverParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(params.solver)

    def check_installed(self) -> None:
        """Raise PluginError where CPMpy does not know the solver, or finds it not installed."""
        known = dict(cp.SolverLookup.base_solvers())
        chosen = known.get(self.solver.partition(":")[0])
        if chosen is None:
            raise PluginError(
                f"solver cpmpy: expected a solver of CPMpy as `solver`, found '{self.solver}';"
                f" CPMpy knows {', '.join(sorted(known))}"
            )
        if not chosen.supported():
            raise PluginError(
                f"solver cpmpy: CPMpy finds no installed solver '{self.solver}'; its documentation"
                " names the package to install"
            )

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into the solver's terms."""
        self.check_installed()
        return RestartedSession(built, self._loaded)

    def _loaded(self, model: Any) -> ClockedRun:
        with _own_signals():
            return ClockedRun(cp.SolverLookup.get(self.solver, model))


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the process's handling of Ctrl-C and of termination, which Exact takes over."""
    # Python lets the main thread alone set handlers.
    ours = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if ours else ()
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
