"""Lexicographic minimisation: among plans of equal objective, the first by priority.

Two solvers that both prove a plan optimal may have found different ones. The starts of the jobs, in
order of priority, are therefore made as small as they can be, one after the other, while the
objective stays what it is (lexicographic minimisation). Starts are then the same for all solvers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import cpmpy as cp
from cpmpy.transformations.get_variables import get_variables_model

from hpcsched.dispatching.cp.backends.backend import Backend
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.cp.solver_limits import Limits, share


class Group(NamedTuple):
    """Starts that are minimised together as one number; the first job has the largest weight."""

    starts: Sequence[Variable]
    weights: Sequence[int]


def first_by_priority(
    built: BuiltModel, objective: int, backend: Backend, limits: Limits
) -> Iterator[None]:
    """Yield after each improvement by priority, with the plan in the model's variables.

    It ends where nothing is left to decide, or a step is not proved within its part of the limits.

    Parameters
    ----------
    built
        The model, with the values of a plan of the least objective; its jobs are by priority.
    objective
        The least objective.
    backend
        The solver.
    limits
        Limits of all steps together.
    """
    constraints: list[Any] = [*built.model.constraints, built.model.objective_ <= objective]
    # A start that no constraint knows has no value, and is the least.
    open_starts = [
        start for start in built.starts if not isinstance(start, int) and start.value() is not None
    ]
    groups = list(_groups(open_starts, backend.largest_objective))
    for group in groups:
        values = {variable: variable.value() for variable in get_variables_model(built.model)}
        if any(start.value() > start.lb for start in group.starts):
            model = cp.Model(constraints)
            model.minimize(
                cp.sum([w * s for w, s in zip(group.weights, group.starts, strict=True)])
            )
            session = backend.load(replace(built, model=model))
            # The plan before still satisfies all constraints: each step begins with a solution.
            known = {variable: value for variable, value in values.items() if value is not None}
            if session.solve(share(limits, 1 / len(groups)), known).status != "optimal":
                return
            yield
        # Fixed from here on: later jobs must not move the starts of earlier ones.
        constraints += [start == int(start.value()) for start in group.starts]


def _groups(starts: Sequence[Variable], largest: int) -> Iterator[Group]:
    """Yield as many starts together as fit into one number up to `largest`."""
    first = 0
    while first < len(starts):
        weights, last = [1], first + 1
        while last < len(starts):
            spans = [int(start.ub) + 1 for start in starts[first + 1 : last + 1]]
            heaviest = 1
            for span in spans:
                heaviest *= span
            # As in any positional notation the whole number stays below this product.
            if heaviest * (int(starts[first].ub) + 1) > largest:
                break
            # A step of an earlier start outweighs all later starts together, so that the least
            # number is the lexicographic minimum.
            weights = [weight * spans[-1] for weight in weights] + [1]
            last += 1
        yield Group(starts[first:last], weights)
        first = last
