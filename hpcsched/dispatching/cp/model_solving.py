"""Solves one model: builds it, gives it to a backend, reads the plan.

Two solvers that both prove a plan optimal may have found different ones. With `by_priority` the
starts of the jobs, in order of priority, are made as small as they can be, one after the other,
while the objective stays what it is (lexicographic minimisation): they are the same for all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend, Outcome, total
from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation, Variable
from hpcsched.dispatching.cp.solver_limits import Limits, share
from hpcsched.dispatching.decision import SOLVED, SOLVER_STATUSES, SolverStatus
from hpcsched.dispatching.planning.model_data import ModelData, Plan

REPAIRS = 2
"""Number of further solves after placements that could not be carried out."""


class Task(NamedTuple):
    """A model to be solved. Can be pickled.

    Attributes
    ----------
    hint
        A plan to start from; None: no warm start.
    by_priority
        Whether the plan is the first by priority of those of the least objective (see
        `equal_plans`).
    seconds
        Real seconds after which a solver that works on the data hands over its best plan so far;
        None: no limit.
    """

    formulation: Formulation
    data: ModelData
    backend: Backend | DataBackend
    limits: Limits
    hint: Plan | None = None
    by_priority: bool = False
    seconds: float | None = None


class Answer(NamedTuple):
    """The answer to a task.

    Attributes
    ----------
    status
        The outcome; there is a plan if it is `optimal` or `feasible`.
    objective, bound
        Objective and lower bound in the model's whole numbers; None where there is none.
    build_time, transform_time, solve_time
        Real seconds of each step.
    why
        The reason of a failure, or of an early end, in words.
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
    data = task.data
    magnitude = largest_number(task.formulation, data)
    if magnitude > task.backend.largest:
        return Answer("overflow", why=f"numbers up to {magnitude}")
    if isinstance(task.backend, DataBackend):
        found: Answer = task.backend.solve(
            task.formulation, data, task.limits, task.hint, task.seconds
        )
        return found
    began = perf_counter()
    built = task.formulation.build(data)
    loaded = perf_counter()
    session = task.backend.load(built)
    ready = perf_counter()
    hint = built.hint(task.hint) if task.hint is not None else None
    outcome = session.solve(task.limits, hint)
    searches = [outcome]
    plan = _plan(built, outcome)
    for _ in range(REPAIRS):
        if plan is None or built.forbid is None or _is_placed(plan, data):
            break
        session.add(built.forbid())
        again = session.solve(task.limits, hint)
        searches.append(again)
        # The plan before is still of use: jobs that it starts without nodes are no fault (see
        # `solver_client`).
        if again.objective is None:
            break
        # Only the first bound holds for the problem. What was forbidden since may have failed for
        # want of a better packing, so later bounds are those of a smaller problem.
        proved = outcome.bound is not None and again.objective <= outcome.bound
        outcome = again._replace(status="optimal" if proved else "feasible", bound=outcome.bound)
        plan = _plan(built, outcome)
    if task.by_priority and outcome.status == "optimal" and outcome.objective is not None:
        plan = _first_by_priority(task, task.backend, built, outcome, plan)
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


def _first_by_priority(
    task: Task, backend: Backend, built: BuiltModel, outcome: Outcome, plan: Plan | None
) -> Plan | None:
    """Return the first by priority of the plans of an objective, as far as the limits allow."""
    assert outcome.objective is not None
    for _ in first_by_priority(built, outcome.objective, backend, task.limits):
        found = _plan(built, outcome)
        if found is None or (built.forbid is not None and not _is_placed(found, task.data)):
            break
        plan = found
    return plan


def _plan(built: BuiltModel, outcome: Outcome) -> Plan | None:
    """Return the plan in the solver's variables, or None without a solution.

    Unconstrained start variables get 0. It is to be read at once: solving again may clear them.
    """
    if outcome.objective is None:
        return None
    values = [start if isinstance(start, int) else start.value() for start in built.starts]
    starts = np.array([0 if value is None else value for value in values], dtype=np.int64)
    return Plan(starts, built.placed())


def _is_placed(plan: Plan, data: ModelData) -> bool:
    """Say whether every job that starts now has found its nodes."""
    return bool((plan.placed.sum(axis=1) == data.units)[plan.starts == 0].all())


def checked_answer(answer: Any) -> Answer:
    """Return an answer after a check of its types.

    Whether the plan can be executed is not checked.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"a solver's answer is an Answer, found {type(answer).__name__}")
    status, plan = answer.status, answer.plan
    if not isinstance(status, str) or status not in SOLVER_STATUSES:
        raise TypeError(f"{status!r} is no status of a solver")
    if (plan is not None) != (status in SOLVED):
        raise TypeError(f"{'no' if plan is None else 'a'} plan with the status {status}")
    if plan is not None and not (isinstance(plan, Plan) and all(_is_whole(part) for part in plan)):
        raise TypeError("a plan is made of arrays of whole numbers")
    if not isinstance(answer.objective, Integral | None):
        raise TypeError(f"an objective is a whole number, found {answer.objective!r}")
    if not isinstance(answer.bound, Real | None):
        raise TypeError(f"a bound is a number, found {answer.bound!r}")
    return answer


def _is_whole(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "i"


def first_by_priority(
    built: BuiltModel, objective: int, backend: Backend, limits: Limits
) -> Iterator[None]:
    """Yield after each improvement by priority, with the plan in the model's variables.

    It ends where nothing is left to decide, or a step is not proved within its part of the limits.
    """
    import cpmpy as cp  # noqa: PLC0415 (slow to import, and not needed by all solvers)
    from cpmpy.transformations.get_variables import get_variables_model  # noqa: PLC0415

    constraints: list[Any] = [*built.model.constraints, built.model.objective_ <= objective]
    # A start that no constraint knows has no value, and is the least.
    open_starts = [
        start for start in built.starts if not isinstance(start, int) and start.value() is not None
    ]
    groups = list(_groups(open_starts, backend.largest_objective))
    for starts, weights in groups:
        values = {variable: variable.value() for variable in get_variables_model(built.model)}
        if any(start.value() > start.lb for start in starts):
            model = cp.Model(constraints)
            model.minimize(cp.sum([w * s for w, s in zip(weights, starts, strict=True)]))
            session = backend.load(replace(built, model=model))
            # The plan before still satisfies all constraints: each step begins with a solution.
            known = {variable: value for variable, value in values.items() if value is not None}
            if session.solve(share(limits, 1 / len(groups)), known).status != "optimal":
                return
            yield
        # Fixed from here on: later jobs must not move the starts of earlier ones.
        constraints += [start == int(start.value()) for start in starts]


def _groups(
    starts: Sequence[Variable], largest: int
) -> Iterator[tuple[Sequence[Variable], Sequence[int]]]:
    """Yield as many starts as fit into one number up to `largest`, and their weights in it.

    As in any positional notation, a step of an earlier start outweighs all later ones together, so
    that the least number is the lexicographic minimum.
    """
    group: list[Variable] = []
    weights: list[int] = []
    for start in starts:
        span = int(start.ub) + 1
        if group and weights[0] * span * (int(group[0].ub) + 1) > largest:
            yield group, weights
            group, weights = [], []
        group = [*group, start]
        weights = [*(weight * span for weight in weights), 1]
    if group:
        yield group, weights
