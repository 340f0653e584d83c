"""Check of the protocol of solvers, on models with known optima."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, Outcome
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Budget, Limits, StoppingRule
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.plugins.product_check import product_fault
from hpcsched.system.system import IntArray
from hpcsched.testing.sample_replays import expect

BUDGET = Budget(5.0)
"""Work for a model of the check; far more than needed."""


def check_solver(make: Callable[[], Backend], *, budget: Budget = BUDGET) -> None:
    """Solve small models, and check the outcomes.

    The solver must be installed, can be pickled, and has whole numbers as its largest ones. It
    must find optima, with a bound that is not above them, with and without a warm start, under a
    budget and under a stopping rule; leave the solution in the model's variables; respect a
    constraint that is added later; and tell a model without a solution. A deterministic solver
    must find the same solution again.

    Raises
    ------
    AssertionError
        If an outcome is wrong.
    PluginError
        If the solver is not installed.
    """
    backend = make()
    expect(product_fault(backend, "solver"))
    backend.check_installed()
    for name in ("largest", "largest_objective"):
        if getattr(backend, name) < 1:
            message = f"expected {name} of at least 1, found {getattr(backend, name)}"
            raise AssertionError(message)
    try:
        backend = pickle.loads(pickle.dumps(backend))
    except Exception as error:
        message = f"expected a backend that can be pickled, found {type(error).__name__}: {error}"
        raise AssertionError(message) from error
    for limits in (budget, StoppingRule(1.0, 4.0, 1)):
        _check_optimum(backend, limits)
    _check_no_solution(backend, budget)
    if backend.deterministic:
        values = [_values(backend, budget) for _ in range(3)]
        if values[0] != values[1] or values[0] != values[2]:
            raise AssertionError(f"expected the same solution again, found {values}")


def _nothing() -> IntArray:
    return np.zeros((0, 0), dtype=np.int64)


def _no_hint(_plan: Plan) -> dict[Variable, int]:
    return {}


def _model() -> tuple[BuiltModel, list[Any]]:
    """Return a model with the minimum 7, at x = 3 and y = 4."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    x, y, z = (cp.intvar(0, 9, name=name) for name in "xyz")
    model = cp.Model([x >= 3, y >= x + 1, z == x + y])
    model.minimize(z)
    return BuiltModel(model, [x, y, z], _nothing, _no_hint, 3), [x, y, z]


def _check_optimum(backend: Backend, limits: Limits) -> None:
    for warm in (False, True):
        built, variables = _model()
        x, y, z = variables
        session = backend.load(built)
        hint = {x: 5, y: 6, z: 11} if warm else None
        what = f"{type(limits).__name__}, {'with' if warm else 'without'} a warm start"
        _expect(session.solve(limits, hint), 7, variables, [3, 4, 7], what)
        session.add(y != 4)
        _expect(session.solve(limits, None), 8, variables, [3, 5, 8], f"{what}, with y != 4 added")


def _expect(
    outcome: object, objective: int, variables: list[Any], values: list[int], what: str
) -> None:
    if not isinstance(outcome, Outcome):
        raise AssertionError(f"{what}: expected an Outcome, found {outcome!r}")
    if outcome.status != "optimal" or outcome.objective != objective:
        raise AssertionError(
            f"{what}: expected 'optimal' with the objective {objective}, found"
            f" {outcome.status!r} with {outcome.objective!r}"
        )
    if outcome.bound is not None and outcome.bound > objective:
        raise AssertionError(
            f"{what}: expected a bound of at most {objective}, found {outcome.bound!r}"
        )
    found = [variable.value() for variable in variables]
    if found != values:
        raise AssertionError(f"{what}: expected x, y, z = {values} in the variables, found {found}")


def _check_no_solution(backend: Backend, limits: Limits) -> None:
    built, (x, *_) = _model()
    built.model.constraints.append(x <= 2)
    outcome = backend.load(built).solve(limits, None)
    if not isinstance(outcome, Outcome) or outcome.status != "infeasible":
        raise AssertionError(f"expected 'infeasible' of x >= 3 and x <= 2, found {outcome!r}")


def _values(backend: Backend, limits: Limits) -> list[int]:
    """Return a solution of a model with many optima."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    variables = [cp.intvar(0, 9, name=f"v{k}") for k in range(4)]
    model = cp.Model([cp.sum(variables) >= 12])
    model.minimize(cp.sum(variables))
    built = BuiltModel(model, variables, _nothing, _no_hint, 4)
    backend.load(built).solve(limits, None)
    return [variable.value() for variable in variables]
