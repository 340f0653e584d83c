"""The shared part of adapters, most of all of solvers that start anew with each call."""

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import Any, Protocol

import cpmpy as cp
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.utils import argval, is_num
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.transformations.get_variables import get_variables_model
from cpmpy.transformations.normalize import toplevel_list

from hpcsched.dispatching.cp.backends.backend import Outcome, Outcomes, total
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, Watch

STATUS: dict[ExitStatus, Outcomes] = {
    ExitStatus.OPTIMAL: "optimal",
    ExitStatus.FEASIBLE: "feasible",
    ExitStatus.UNKNOWN: "unknown",
    ExitStatus.UNSATISFIABLE: "infeasible",
}
"""Outcomes by what CPMpy calls them."""

ORIGINS = {
    "cumulative": (0,),
    "cumulative_optional": (0,),
    "no_overlap": (0,),
    "no_overlap_2d": (0, 2),
}
"""Where the starts, or origins, are among the arguments of a constraint on tasks."""

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


class ClockedRun:
    """A model in one of CPMpy's solvers, which stops by the clock.

    A hint is given to solvers that can be told where to begin.
    """

    def __init__(self, solver: Any, **options: Any) -> None:
        self._solver = solver
        self._options = options

    def solve(self, limit: Budget | float, hint: dict[Variable, int] | None) -> Outcome:
        """Solve within the work of a budget, or a time limit, in seconds."""
        seconds = limit.work if isinstance(limit, Budget) else limit
        if hint:
            with suppress(NotSupportedError):
                self._solver.solution_hint(list(hint), list(hint.values()))
        self._solver.solve(time_limit=max(seconds, LEAST_SECONDS), **self._options)
        return Outcome(STATUS[self._solver.status().exitstatus])


class RestartedSession:
    """A session for solvers that cannot be relied upon to go on where they stopped.

    The model is put into the solver's terms when the session is made, and again for each further
    call. The best of the solutions that were found within one call is what it leaves behind; where
    none was found, the variables keep the values that they had.

    Parameters
    ----------
    load
        Function that puts a CPMpy model into the solver's terms; it returns an object with a method
        `solve(limit, hint)`, which returns an `Outcome` and leaves the solution in the variables.
        The limit is a `Budget` or a number of seconds.
    """

    def __init__(self, built: BuiltModel, load: Callable[[Any], Run]) -> None:
        goal = built.model.objective_
        self._goal = goal
        constraints = toplevel_list(list(built.model.constraints), merge_and=False)
        self._model = cp.Model([with_constants(each) for each in constraints])
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
        hint
            Values of variables to start from; None: no warm start.
        """
        # Kept beside the model: the next try overwrites its variables, even if it finds nothing
        # better.
        best, values = Outcome("unknown"), self._values()
        searches: list[Outcome] = []
        watch = None if isinstance(limits, Budget) else Watch(limits)
        limit = limits if isinstance(limits, Budget) else limits.first
        while True:
            outcome = self._solve(limit, hint)
            searches.append(outcome)
            if best.objective is None or _is_better(outcome, best):
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


def with_constants(constraint: Any) -> Any:
    """Return a constraint on tasks with a variable of one value in place of each number.

    SCIP takes no number for the start of a task, and neither does Pumpkin. Each number gets a
    variable of its own, as SCIP 10 takes no variable for the starts of two tasks either. Any other
    constraint is returned as it is.
    """
    places = ORIGINS.get(getattr(constraint, "name", ""), ())
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


def _is_better(outcome: Outcome, best: Outcome) -> bool:
    """Say whether an outcome improves on one that has an objective: costs less, or is proved."""
    if outcome.objective is None or best.objective is None:
        return False
    if outcome.objective == best.objective:
        return outcome.status == "optimal"
    return outcome.objective < best.objective
