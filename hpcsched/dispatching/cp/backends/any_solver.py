"""Any solver that CPMpy knows."""

from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple, Self

import cpmpy as cp
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.utils import argval, is_num
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.transformations.normalize import toplevel_list

from hpcsched.dispatching.cp.backends.backend import Budget, Limits, Outcome, Outcomes
from hpcsched.dispatching.cp.cp_params import AnySolverParams
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.errors import PluginError
from hpcsched.registration import Context, builtin

STATUS: dict[ExitStatus, Outcomes] = {
    ExitStatus.OPTIMAL: "optimal",
    ExitStatus.FEASIBLE: "feasible",
    ExitStatus.UNKNOWN: "unknown",
    ExitStatus.UNSATISFIABLE: "infeasible",
}
"""Outcomes by CPMpy's names of them."""

LEAST_SECONDS = 0.001
"""Minimum time limit of a call, as many solvers take 0 for no limit."""

_ORIGINS = {
    "cumulative": (0,),
    "cumulative_optional": (0,),
    "no_overlap": (0,),
    "no_overlap_2d": (0, 2),
}
"""Arguments of constraints on tasks that are starts or origins."""


@builtin("solver", "cpmpy", AnySolverParams)
class AnySolver(NamedTuple):
    """Solver: any other solver that CPMpy knows, by name; it stops by the clock.

    - The work of a budget is in seconds of the clock; under time limits a call has the largest.
    - A hint is the starting point of solvers that take one.
    - Numbers are kept within what solvers of 32 bits can add up.
    """

    solver: str
    largest: int = 1 << 28
    largest_objective: int = 1 << 28
    deterministic: bool = False

    @classmethod
    def build(cls, params: AnySolverParams, _context: Context) -> Self:
        """Return the solver of the parameters."""
        return cls(params.solver)

    def check_installed(self) -> None:
        """Raise PluginError if CPMpy does not know the solver, or finds it not installed."""
        known = dict(cp.SolverLookup.base_solvers())
        chosen = known.get(self.solver.partition(":")[0])
        if chosen is None or not chosen.supported():
            names = ", ".join(sorted(known))
            message = f"expected a solver that CPMpy finds installed, found '{self.solver}'"
            raise PluginError(f"solver cpmpy: {message}; CPMpy knows {names}")

    def load(self, built: BuiltModel) -> "CpmpySession":
        """Load a model into the solver."""
        return CpmpySession(self.solver, built)


class CpmpySession:
    """Session of one of CPMpy's solvers, which starts anew with each call."""

    def __init__(self, solver: str, built: BuiltModel) -> None:
        self._name, self._goal = solver, built.model.objective_
        constraints = toplevel_list(list(built.model.constraints), merge_and=False)
        self._model = cp.Model([with_constants(each) for each in constraints])
        self._model.minimize(self._goal)
        self._loaded: Any = cp.SolverLookup.get(solver, self._model)

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""
        self._model += with_constants(constraint)
        self._loaded = None

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits; see `Session`."""
        # What has solved once is used up: the next call loads the model again.
        solver = self._loaded or cp.SolverLookup.get(self._name, self._model)
        self._loaded = None
        # Pumpkin takes no Booleans.
        known = {one: value for one, value in (hint or {}).items() if not one.is_bool()}
        if known:
            with suppress(NotSupportedError):
                solver.solution_hint(list(known), list(known.values()))
        seconds = limits.work if isinstance(limits, Budget) else limits.most
        solver.solve(time_limit=max(seconds, LEAST_SECONDS))
        status = STATUS[solver.status().exitstatus]
        if status in ("unknown", "infeasible"):
            return Outcome(status)
        # From the variables, so that it is a whole number whatever the solver reports.
        objective = int(argval(self._goal))
        return Outcome(status, objective, objective if status == "optimal" else None)


def with_constants(constraint: Any) -> Any:
    """Return a constraint on tasks with a variable of one value in place of each number.

    SCIP and Pumpkin take no number for the start of a task. Each number gets a variable of its own,
    as SCIP 10 takes no variable for the starts of two tasks either.
    """
    places = _ORIGINS.get(getattr(constraint, "name", ""), ())
    if not any(is_num(origin) for place in places for origin in constraint.args[place]):
        return constraint
    arguments = list(constraint.args)
    for place in places:
        arguments[place] = [
            cp.intvar(int(origin), int(origin)) if is_num(origin) else origin
            for origin in arguments[place]
        ]
    # A copy, as the model's own constraint is used again when the model is loaded anew.
    changed = copy(constraint)
    changed.update_args(arguments)
    return changed
