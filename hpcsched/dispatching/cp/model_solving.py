"""Solves one model: builds it, gives it to a backend, reads the plan."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend, Outcome, total
from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.decision import SOLVED, SOLVER_STATUSES, SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData, Plan

REPAIRS = 2
"""Number of further solves after placements that could not be carried out."""


class Task(NamedTuple):
    """A model to be solved; a hint is a plan to start from. Can be pickled."""

    formulation: Formulation
    data: ModelData
    backend: Backend | DataBackend
    limits: Limits
    hint: Plan | None = None


class Answer(NamedTuple):
    """The answer to a task.

    Attributes
    ----------
    status
        The outcome; there is a plan if it is `optimal` or `feasible`.
    objective, bound
        Objective and lower bound in the model's whole numbers; None if there is none.
    build_time, transform_time, solve_time
        Real seconds of each step.
    why
        Reason of a failure, or of an early end, in words.
    branches, fails
        Number of decisions and dead ends of the search; None if the solver does not count them.
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
    branches: int | None = None
    fails: int | None = None


def largest_number(formulation: Formulation, data: ModelData) -> int:
    """Return the largest number in a model's constraints, those of shared resources included."""
    shared = data.shared_resources
    drawn = 0 if shared is None else int(shared.capacity.max()) * data.horizon
    return max(formulation.magnitude(data), drawn)


def solve(task: Task) -> Answer:
    """Solve a task in this process; exceptions of the solver are raised."""
    formulation, data, backend, limits, hint = task
    magnitude = largest_number(formulation, data)
    if magnitude > backend.largest:
        return Answer("overflow", why=f"numbers up to {magnitude}")
    if isinstance(backend, DataBackend):
        found: Answer = backend.solve(formulation, data, limits, hint)
        return found
    began = perf_counter()
    built = formulation.build(data)
    loaded = perf_counter()
    session = backend.load(built)
    ready = perf_counter()
    values = built.hint(hint) if hint is not None else None
    outcome = session.solve(limits, values)
    searches = [outcome]
    plan = _plan(built, outcome)
    for _ in range(REPAIRS):
        if plan is None or built.forbid is None or _is_placed(plan, data):
            break
        session.add(built.forbid())
        again = session.solve(limits, values)
        searches.append(again)
        # The plan before is still of use: jobs that it starts without nodes are no fault (see
        # `SolverClient`).
        if again.objective is None:
            break
        # Only the first bound holds for the problem. What was forbidden since may have failed for
        # want of a better packing, so later bounds are those of a smaller problem.
        proved = outcome.bound is not None and again.objective <= outcome.bound
        outcome = again._replace(status="optimal" if proved else "feasible", bound=outcome.bound)
        plan = _plan(built, outcome)
    return Answer(
        outcome.status,
        plan,
        outcome.objective,
        outcome.bound,
        built.variables,
        loaded - began,
        ready - loaded,
        perf_counter() - ready,
        branches=total([one.branches for one in searches]),
        fails=total([one.fails for one in searches]),
    )


def _plan(built: BuiltModel, outcome: Outcome) -> Plan | None:
    """Return the plan in the solver's variables, or None without a solution.

    Unconstrained start variables get 0. It is to be read at once: solving again may clear them.
    """
    if outcome.objective is None:
        return None
    values = [start if isinstance(start, int) else start.value() or 0 for start in built.starts]
    return Plan(np.array(values, dtype=np.int64), built.placed())


def _is_placed(plan: Plan, data: ModelData) -> bool:
    """Say whether every job that starts now has found its nodes."""
    return bool((plan.placed.sum(axis=1) == data.units)[plan.starts == 0].all())


def checked_answer(answer: Any) -> Answer:
    """Return an answer after a check of its types; raises TypeError.

    Whether the plan can be executed is not checked.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"a solver's answer is an Answer, found {type(answer).__name__}")
    status, plan = answer.status, answer.plan
    if status not in SOLVER_STATUSES:
        raise TypeError(f"{status!r} is no status of a solver")
    if (plan is not None) != (status in SOLVED):
        raise TypeError(f"{'no' if plan is None else 'a'} plan with the status {status}")
    if plan is not None and not all(
        isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in plan
    ):
        raise TypeError("a plan is made of arrays of whole numbers")
    return answer
