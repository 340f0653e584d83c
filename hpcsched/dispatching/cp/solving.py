"""Solves one model: builds it, gives it to a backend, reads the plan."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend
from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation
from hpcsched.dispatching.cp.limits import Limits
from hpcsched.dispatching.cp.model_data import ModelData
from hpcsched.dispatching.cp.plan import Plan
from hpcsched.dispatching.decision import SolverStatus
from hpcsched.system.system import IntArray

REPAIRS = 2
"""How often a model is solved again because its placement could not be carried out."""


class Task(NamedTuple):
    """A model to be solved: can be pickled. `hint` is a plan to start from."""

    formulation: Formulation
    data: ModelData
    backend: Backend
    limits: Limits
    hint: Plan | None = None


class Answer(NamedTuple):
    """What came of a task. `plan` is there if the status is `optimal` or `feasible`.

    `objective` and `bound` are the model's. Times are in real seconds.
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


def solve(task: Task) -> Answer:
    """Solve a task in this process; raises whatever the solver raises."""
    data = task.data
    magnitude = task.formulation.magnitude(data)
    if magnitude > task.backend.largest:
        return Answer("overflow", why=f"numbers up to {magnitude}")
    began = perf_counter()
    built = task.formulation.build(data)
    loaded = perf_counter()
    session = task.backend.load(built)
    ready = perf_counter()
    hint = built.hint(task.hint) if task.hint is not None else None
    outcome = session.solve(task.limits, hint)
    for _ in range(REPAIRS):
        if outcome.objective is None or built.forbid is None or _is_placed(built, data):
            break
        session.add(built.forbid())
        again = session.solve(task.limits, hint)
        if again.objective is None:
            break
        outcome = again._replace(bound=outcome.bound)
    plan = None
    if outcome.objective is not None:
        plan = Plan(_starts(built), built.placed())
    return Answer(
        outcome.status,
        plan,
        outcome.objective,
        outcome.bound,
        built.variables,
        loaded - began,
        ready - loaded,
        perf_counter() - ready,
    )


def _starts(built: BuiltModel) -> IntArray:
    """Return planned starts; a start that nothing in the model minds is the earliest."""
    values = [start if isinstance(start, int) else start.value() for start in built.starts]
    return np.array([0 if value is None else value for value in values], dtype=np.int64)


def _is_placed(built: BuiltModel, data: ModelData) -> bool:
    """Say whether every job that starts now has found its nodes."""
    now = _starts(built) == 0
    return bool((built.placed().sum(axis=1) == data.units)[now].all())
