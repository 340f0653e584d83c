"""Formulations as data, and the model that one builds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.system.system import IntArray

Variable = Any
"""A decision variable of CPMpy."""

Fit = Literal["exact", "restriction", "relaxation"]
"""Relation of a model's plans to those of the dispatching problem: the same, fewer, more."""

Binds = Literal["plan", "now", "nothing"]
"""Jobs whose nodes a formulation decides: all, those that start now, none."""


@dataclass(frozen=True)
class BuiltModel:
    """A CPMpy model, and the functions that read it.

    Attributes
    ----------
    starts
        Start of each job, a variable or a number, `[J]`.
    placed
        Returns the units of each job on each node, `[J, N]`, once the model is solved; jobs without
        nodes in the formulation have none.
    forbid
        Returns a constraint against the placement of the present solution (see `Formulation`).
    """

    model: Any
    starts: Sequence[Variable]
    placed: Callable[[], IntArray]
    hint: Callable[[Plan], dict[Variable, int]]
    forbid: Callable[[], Any] | None = None


class Placing(Protocol):
    """The variables of a model that say where units run; each placing has its own."""

    def placed(self) -> IntArray:
        """Return the units of each job on each node in the present solution, `[J, N]`.

        Jobs without nodes in the formulation have none.
        """

    def hint(self, plan: Plan) -> dict[Variable, int]:
        """Return values for the variables from a plan (a warm start)."""


class ModelParts(NamedTuple):
    """The problem of a round and the variables of its model, for functions of constraints.

    Attributes
    ----------
    data
        `J` jobs, `N` nodes, `R` resource types, times in seconds from now.
    starts
        Start of each job, a variable, or a number where the start is fixed, `[J]`.
    placing
        The variables that say where units run, as the formulation's `placing` made them.
    """

    data: ModelData
    starts: Sequence[Variable]
    placing: Any


Constraints = Callable[[ModelParts], list[Any]]
"""A function of a module that returns constraints of one kind; its name is that of the kind."""


@dataclass(frozen=True)
class Formulation:
    """A formulation as data: its variables, its constraints and its search; knows no solver.

    A formulation with one more constraint is `replace(formulation, name=…, constraints=(…))`. Every
    function in it is one of a module, so that it can be sent to a solver's process.

    Attributes
    ----------
    fit
        Relation of its models' plans to those of the dispatching problem. `exact`: the same;
        `restriction`: fewer; `relaxation`: more, so that a plan may turn out not to be one.
    binds
        Jobs that get nodes in its plans: all, those that start now, or none. The allocator chooses
        the nodes of the others.
    variables
        Returns the number of decision variables of the model, as the source counts them.
    magnitude
        Returns the largest number in the constraints that a solver may have to work with. Where it
        is above that of the solver, fewer jobs are modelled.
    placing
        Makes the variables that say where units run.
    constraints
        What a model consists of, beside starts, objective and shared resources, which all have.
    last_node_first
        Whether the papers' search tries positions from the last one on.
    back_to_start
        Whether a failure of that search leads to another start of the job rather than to other
        values of `placing`.
    first
        Number of jobs, the first by priority, whose start is free; all others end with the horizon.
        None: all jobs.
    strict
        Whether it has constraints that the problem does not have: its plans are carried out as they
        stand, and no list plan takes their place.
    forbid
        Returns a constraint against the placement of the present solution, for placements that may
        turn out wrong; None: they never do.
    """

    name: str
    fit: Fit
    binds: Binds
    variables: Callable[[ModelData], int]
    magnitude: Callable[[ModelData], int]
    placing: Callable[[ModelData], Placing]
    constraints: tuple[Constraints, ...]
    last_node_first: bool = False
    back_to_start: bool = False
    first: int | None = None
    strict: bool = False
    forbid: Callable[[ModelParts], Any] | None = None

    def fixed_starts(self, data: ModelData) -> IntArray:
        """Return the fixed starts of jobs; −1 for jobs with a free start, `[J]`."""
        fixed = np.full(data.job_count, -1, dtype=np.int64)
        if self.first is not None:
            # At the end of the horizon, so that they compete with no job whose start is free.
            fixed[self.first :] = (data.horizon - data.run_times)[self.first :]
        return fixed

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model of a round; an exception counts as a failure of the solver there."""
        import cpmpy as cp  # noqa: PLC0415 (CPMpy)

        from hpcsched.dispatching.cp.formulations.scheduling import (  # noqa: PLC0415 (CPMpy)
            objective,
            shared_resources,
            start_variables,
        )

        starts = start_variables(data, self.fixed_starts(data))
        parts = ModelParts(data, starts, self.placing(data))
        goal, constraints = objective(data, starts)
        for kind in (*self.constraints, shared_resources):
            constraints += kind(parts)
        model = cp.Model(constraints)
        model.minimize(goal)

        def hint(plan: Plan) -> dict[Variable, int]:
            # A start that is put off is a number, of which a solver can be given no value.
            values = zip(starts, plan.starts.tolist(), strict=True)
            known = {start: value for start, value in values if not isinstance(start, int)}
            known.update(parts.placing.hint(plan))
            return known

        return BuiltModel(
            model,
            starts,
            parts.placing.placed,
            hint,
            None if self.forbid is None else partial(self.forbid, parts),
        )
