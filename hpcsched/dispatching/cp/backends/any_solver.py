"""Any solver that CPMpy knows, and the sessions of solvers that start anew with each call."""

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Self

import cpmpy as cp
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.utils import argval, is_num
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.transformations.get_variables import get_variables_model
from cpmpy.transformations.normalize import toplevel_list

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.backend import Outcome, Outcomes
from hpcsched.dispatching.cp.cp_params import AnySolverParams
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, Watch
from hpcsched.errors import PluginError
from hpcsched.registration import builtin

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

Run = Callable[[Budget | float, dict[Variable, int] | None], Outcome]
"""Solves a loaded model once, within a budget or seconds, from values of variables (None: no warm
start), and sets the model's variables. The objective of its outcome is not used."""


@builtin(
    "solver",
    "cpmpy",
    AnySolverParams,
    summary="any other solver that CPMpy knows, by name; it stops by the clock",
)
class AnySolver(NamedTuple):
    """A solver of CPMpy.

    - The work of a budget is in seconds of the clock.
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

    def load(self, built: BuiltModel) -> "RestartedSession":
        """Load a model into the solver."""
        self.check_installed()
        return RestartedSession(
            built, lambda model: partial(solve_by_clock, cp.SolverLookup.get(self.solver, model))
        )


def solve_by_clock(
    solver: Any, limit: Budget | float, hint: dict[Variable, int] | None, **options: Any
) -> Outcome:
    """Solve by one of CPMpy's solvers; the work of a budget is in seconds."""
    seconds = limit.work if isinstance(limit, Budget) else limit
    # Pumpkin takes no Booleans.
    known = {variable: value for variable, value in (hint or {}).items() if not variable.is_bool()}
    if known:
        with suppress(NotSupportedError):
            solver.solution_hint(list(known), list(known.values()))
    solver.solve(time_limit=max(seconds, LEAST_SECONDS), **options)
    return Outcome(STATUS[solver.status().exitstatus])


class RestartedSession:
    """Session of a solver that cannot continue where it stopped.

    The model is loaded when the session is made, and again for each further call. The best solution
    of a call is left in the variables; without any, they keep their values.

    Parameters
    ----------
    load
        Loads a CPMpy model into the solver.
    """

    def __init__(self, built: BuiltModel, load: Callable[[Any], Run]) -> None:
        self._goal = built.model.objective_
        constraints = toplevel_list(list(built.model.constraints), merge_and=False)
        self._model = cp.Model([with_constants(each) for each in constraints])
        self._model.minimize(self._goal)
        self._load = load
        self._ready: Run | None = load(self._model)

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""
        self._model += with_constants(constraint)
        self._ready = None

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits; see `Session`."""
        # Kept beside the model: the next try overwrites its variables, even if it finds nothing
        # better.
        best, values = Outcome("unknown"), self._values()
        watch = None if isinstance(limits, Budget) else Watch(limits)
        limit = limits if isinstance(limits, Budget) else limits.first
        while True:
            outcome = self._solve_once(limit, hint)
            if best.objective is None or _rank(outcome) < _rank(best):
                best = outcome
                if outcome.objective is not None:
                    values = self._values()
            if watch is None or outcome.status in ("optimal", "infeasible"):
                break
            if not watch.goes_on(best.objective):
                break
            limit = watch.limit
        for variable, value in values.items():
            variable._value = value  # as CPMpy's own solvers do
        return best

    def _values(self) -> dict[Variable, Any]:
        return {variable: variable.value() for variable in get_variables_model(self._model)}

    def _solve_once(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        # What has solved once is used up: the next call loads the model again.
        run, self._ready = self._ready or self._load(self._model), None
        outcome = run(limit, hint)
        if outcome.status in ("unknown", "infeasible"):
            return outcome
        # From the variables, so that it is a whole number whatever the solver reports.
        objective = int(argval(self._goal))
        bound = objective if outcome.status == "optimal" else outcome.bound
        return outcome._replace(objective=objective, bound=bound)


def _rank(outcome: Outcome) -> tuple[float, bool]:
    """Return a key by which the better outcome is the lesser: its cost, then its proof."""
    cost = float("inf") if outcome.objective is None else outcome.objective
    return cost, outcome.status != "optimal"


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
