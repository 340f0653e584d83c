"""The shared part of adapters, most of all of solvers that start anew with each call."""

from collections.abc import Callable
from typing import Any, Protocol

import cpmpy as cp
from cpmpy.expressions.utils import argval
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.transformations.get_variables import get_variables_model
from cpmpy.transformations.normalize import toplevel_list

from hpcsched.dispatching.cp.backends.backend import Outcome, Outcomes, total
from hpcsched.dispatching.cp.backends.constants import with_constants
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, solve_by_stopping_rule

STATUS: dict[ExitStatus, Outcomes] = {
    ExitStatus.OPTIMAL: "optimal",
    ExitStatus.FEASIBLE: "feasible",
    ExitStatus.UNKNOWN: "unknown",
    ExitStatus.UNSATISFIABLE: "infeasible",
}
"""Outcomes by what CPMpy calls them."""

LEAST_SECONDS = 0.001
"""What a solver is given at least, as many take 0 for no limit."""


class Run(Protocol):
    """A model in the terms of one solver, to be solved once."""

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within a budget or a time limit in seconds, and set the model's variables.

        The outcome's objective is not used, as long as the status says that there is one.

        Parameters
        ----------
        limit
            A budget, or the time limit in seconds.
        hint
            Values of variables to start from; None: no warm start.
        """


class RestartedSession:
    """A session for solvers that cannot be relied upon to go on where they stopped.

    The model is put into the solver's terms when the session is made, and again for each further
    call. The best of the solutions that were found within one call is what it leaves behind; where
    none was found, the variables keep the values that they had.

    Parameters
    ----------
    built
        The model.
    load
        Function that puts a CPMpy model into the solver's terms; it returns an object with a method
        `solve(limit, hint)`, which returns an `Outcome` and leaves the solution in the variables.
        The limit is a `Budget` or a number of seconds.
    """

    def __init__(self, built: BuiltModel, load: Callable[[Any], Run]) -> None:
        goal = built.model.objective_
        self._goal = goal
        self._model = cp.Model([with_constants(each) for each in _each(built.model)])
        self._model.minimize(goal)
        self._load = load
        self._ready: Run | None = load(self._model)

    def add(self, constraint: Any) -> None:
        """Add a constraint before solving again."""
        self._model += with_constants(constraint)
        self._ready = None

    def solve(self, limits: Limits, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within limits.

        Parameters
        ----------
        limits
            A budget or a stopping rule.
        hint
            Values of variables to start from; None: no warm start.
        """
        # Kept beside the model: the next try overwrites its variables, even if it finds nothing
        # better.
        best, values = Outcome("unknown"), self._values()
        searches: list[Outcome] = []

        def solve_for(limit: Budget | float) -> tuple[bool, int | None]:
            nonlocal best, values
            outcome = self._solve(limit, hint)
            searches.append(outcome)
            if best.objective is None or _is_better(outcome, best):
                best = outcome
                if outcome.objective is not None:
                    values = self._values()
            return outcome.status in ("optimal", "infeasible"), best.objective

        if isinstance(limits, Budget):
            solve_for(limits)
        else:
            solve_by_stopping_rule(limits, solve_for)
        for variable, value in values.items():
            variable._value = value  # as CPMpy's own solvers do
        return best._replace(
            branches=total([outcome.branches for outcome in searches]),
            fails=total([outcome.fails for outcome in searches]),
        )

    def _values(self) -> dict[Variable, Any]:
        return {variable: variable.value() for variable in get_variables_model(self._model)}

    def _solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        # What has solved once is used up: the next call loads the model again.
        run, self._ready = self._ready or self._load(self._model), None
        outcome = run.solve(limit, hint)
        if outcome.status in ("unknown", "infeasible"):
            return outcome
        # From the variables, so that it is a whole number whatever the solver reports.
        objective = int(argval(self._goal))
        if outcome.status == "optimal":
            return outcome._replace(objective=objective, bound=objective)
        return outcome._replace(status="feasible", objective=objective)


def _each(model: Any) -> list[Any]:
    """Return the constraints of a model one by one."""
    each: list[Any] = toplevel_list(list(model.constraints), merge_and=False)
    return each


def _is_better(outcome: Outcome, best: Outcome) -> bool:
    """Say whether an outcome improves on one that has an objective: costs less, or is proved."""
    if outcome.objective is None or best.objective is None:
        return False
    if outcome.objective == best.objective:
        return outcome.status == "optimal"
    return outcome.objective < best.objective
