"""Exact, which solves integer linear programs; its licence is the AGPL.

Answers are deterministic under a budget: one thread, a fixed seed, and work that is counted
(`timeout-det`).
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any, NamedTuple

from cpmpy.solvers.exact import CPM_exact
from cpmpy.transformations.get_variables import get_variables, get_variables_model

from hpcsched.dispatching.cp.backends.backend import Outcome
from hpcsched.dispatching.cp.backends.restarting import LEAST_SECONDS, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import EXACT_PACKAGE
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.registration import builtin

_STOPPED = "Program interrupted by user."
"""What Exact raises at its deterministic limit."""


@builtin("solver", "exact", summary="Exact, for small models", needs=EXACT_PACKAGE)
class Exact(NamedTuple):
    """Exact.

    - The work of a budget is in Exact's deterministic seconds, of which it knows whole ones alone:
      it is rounded up.
    - A hint is where the search begins.
    - Decision strategies of formulations are not followed.
    - Exact computes with numbers of any size.
    """

    largest: int = 1 << 60
    largest_objective: int = 1 << 50

    @property
    def deterministic(self) -> bool:
        """Equal problems get equal answers under a budget."""
        return True

    def check_installed(self) -> None:
        """Raise PluginError where Exact is absent."""
        EXACT_PACKAGE.require()

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into Exact's terms."""
        self.check_installed()
        return RestartedSession(built, _ExactRun)


class _Solver(CPM_exact):
    """CPMpy's solver, which can be given lines that were transformed before."""

    _csemap: Any

    def __init__(self, **options: Any) -> None:
        self._are_lines = False
        with _own_signals():
            super().__init__(**options)

    def transform(self, cpm_expr: Any) -> Any:
        """Return linear constraints."""
        return cpm_expr if self._are_lines else super().transform(cpm_expr)

    def post(self, model: Any, lines: list[Any], transformer: "_Solver") -> None:
        """Add the constraints of a model, which `transformer` has made into lines, and its goal."""
        self._csemap = transformer._csemap
        self._are_lines = True
        self.add(lines)
        self._are_lines = False
        # CPMpy notes the variables of constraints as given; of lines it would note auxiliary ones.
        get_variables(model.constraints, self.user_vars)
        self.minimize(model.objective_)


class _ExactRun:
    """A model as linear constraints, which takes longest.

    Exact has to be told of its limit before it is given any.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._transformer = _Solver()
        self._lines = self._transformer.transform(model.constraints)

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        # Exact's own interface is called: CPMpy's way keeps to its first solution for long.
        options: dict[str, Any] = {"seed": 1}
        if isinstance(limit, Budget):
            options["timeout-det"] = max(ceil(limit.work), 1)
        # Limits are options of the solver as it is made, so that each call has one of its own.
        solver = _Solver(**options)
        solver.post(self._model, self._lines, self._transformer)
        solver.solver_vars(get_variables_model(self._model))
        native = solver.xct_solver
        if hint:
            values = [(solver.solver_var(v), int(value)) for v, value in hint.items()]
            native.setSolutionHints(values)
        seconds = 0 if isinstance(limit, Budget) else max(limit, LEAST_SECONDS)
        try:
            status = native.runFull(True, seconds)
        except RuntimeError as error:
            if str(error) != _STOPPED:
                raise
            status = "TIMEOUT"
        counts = dict(native.getStats())
        counted = {"branches": int(counts["decisions"]), "fails": int(counts["conflicts"])}
        if not native.hasSolution():
            return Outcome("unknown" if status == "TIMEOUT" else "infeasible", **counted)
        solver._fillVars(has_solution=True)
        if status != "TIMEOUT":
            return Outcome("optimal", **counted)
        return Outcome("feasible", None, native.getDualBound(), **counted)


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
