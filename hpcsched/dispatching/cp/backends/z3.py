"""z3.

Answers are deterministic under a budget: one thread, a fixed seed, and work that is counted
(`rlimit`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import z3
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl
from cpmpy.solvers.z3 import CPM_z3
from cpmpy.transformations.get_variables import get_variables_model

from hpcsched.dispatching.cp.backends.backend import Outcome
from hpcsched.dispatching.cp.backends.restarting import LEAST_SECONDS, RestartedSession
from hpcsched.dispatching.cp.backends.solver_params import Z3_PACKAGE
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.registration import builtin

RESOURCES = 4_000_000
"""What z3 counts for one unit of work."""

_MOST = (1 << 32) - 1


@builtin("solver", "z3", summary="z3, for small models", needs=Z3_PACKAGE)
class Z3(NamedTuple):
    """z3.

    - The work of a budget is in units of 4 million of z3's resource limit.
    - A hint is where the search begins.
    - Decision strategies of formulations are not followed.
    - z3 computes with numbers of any size.
    """

    largest: int = 1 << 60
    largest_objective: int = 1 << 50

    @property
    def deterministic(self) -> bool:
        """Equal problems get equal answers under a budget."""
        return True

    def check_installed(self) -> None:
        """Raise PluginError where z3 is absent."""
        Z3_PACKAGE.require()

    def load(self, built: BuiltModel) -> RestartedSession:
        """Put a model into z3's terms."""
        self.check_installed()
        return RestartedSession(built, _Z3Run)


class _Solver(CPM_z3):
    """CPMpy's solver with names of our own.

    z3 goes by names in places, and those of CPMpy's auxiliary variables depend on how many there
    were before.
    """

    def solver_var(self, cpm_var: Any) -> Any:
        """Return the variable of z3 for one of CPMpy."""
        if not isinstance(cpm_var, _NumVarImpl) or isinstance(cpm_var, NegBoolView):
            return super().solver_var(cpm_var)
        known = self._varmap.get(cpm_var.name)
        if known is None:
            name = f"v{len(self._varmap)}"
            if cpm_var.is_bool():
                known = z3.Bool(name)
            else:
                known = z3.Int(name)
                self.z3_solver.add(known >= cpm_var.lb, known <= cpm_var.ub)
            self._varmap[cpm_var.name] = known
        return known


class _Z3Run:
    """A model in z3's terms, in a context of its own."""

    def __init__(self, model: Any) -> None:
        self._context = z3.Context()
        self._variables = get_variables_model(model)
        with _within(self._context):
            self._solver = _Solver(model, subsolver="opt")

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        # z3's own interface is called, as CPMpy cannot read a solution that leaves a variable open.
        cpmpy, native = self._solver, self._solver.z3_solver
        with _within(self._context):
            cpmpy.solver_vars(self._variables)
            if isinstance(limit, Budget):
                # An unsigned number of 32 bits, of which 0 means no limit.
                native.set(rlimit=min(max(round(limit.work * RESOURCES), 1), _MOST))
            else:
                native.set(timeout=round(max(limit, LEAST_SECONDS) * 1000))
            for variable, value in (hint or {}).items():
                start = bool(value) if variable.is_bool() else int(value)
                native.set_initial_value(cpmpy.solver_var(variable), start)
            outcome = self._read(repr(native.check()))
            counts = native.statistics()
            return outcome._replace(
                branches=_count(counts, "decisions"), fails=_count(counts, "conflicts")
            )

    def _read(self, status: str) -> Outcome:
        """Put a solution into the model's variables, and return the outcome."""
        cpmpy, native = self._solver, self._solver.z3_solver
        if status == "unsat":
            return Outcome("infeasible")
        try:
            solution = native.model()
        except z3.Z3Exception:  # there is none
            return Outcome("unknown")
        if status == "unknown" and not len(solution):
            return Outcome("unknown")
        for variable in self._variables:
            value = solution.eval(cpmpy.solver_var(variable), model_completion=True)
            variable._value = z3.is_true(value) if variable.is_bool() else value.as_long()
        bounds = native.lower(cpmpy.obj_handle), native.upper(cpmpy.obj_handle)
        # `sat` alone says that there is a plan; it is the best where the two bounds meet.
        proved = status == "sat" and bounds[0].eq(bounds[1])
        return Outcome("optimal" if proved else "feasible")


def _count(counts: Any, name: str) -> int:
    """Return the counts of z3's two engines together; z3 omits counts of 0."""
    known = [key for key in (name, f"sat {name}") if key in counts.keys()]  # noqa: SIM118 (z3's own)
    return sum(int(counts.get_key_value(key)) for key in known)


@contextmanager
def _within(context: Any) -> Iterator[None]:
    """Make z3 use a context of ours where none is named.

    CPMpy uses one for all models, and z3 goes by the order in which terms were ever made in it.
    """
    module: Any = z3.z3  # which holds that one
    before = module._main_ctx
    module._main_ctx = context
    try:
        yield
    finally:
        module._main_ctx = before
