"""HCP'19: aggregated nodes, one resource of each type; nodes come afterwards.

Model (Galleguillos, thesis 2020, sections 2.3, 5.1 and 5.2; Galleguillos et al., CP 2021, section
2.2): for queued jobs τᵢ, starts s(τᵢ) ∈ [t, eoh]; for each resource type r,
cumulative([s(τᵢ)], [d(τᵢ)], [reqᵢᵣ], Tcapᵣ), running jobs included; the objective is minimised.
There are |Q̄| decision variables. Jobs that start now are put on nodes by a heuristic, which may
fail: the model is a relaxation.

Ours departs in this: what running jobs hold is one task for each stretch of time in which it is the
same, and a resource type that cannot be short has no constraint. Neither changes a plan.
"""

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Phase, Terms, Variable
from hpcsched.dispatching.cp.formulations.scheduling import (
    largest_aggregated_area,
    start_objective,
    start_variables,
    system_cumulatives,
)
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan


class Hcp19:
    """Starts only; resources are aggregated.

    With `first`, only so many jobs may start when they like; all others are postponed to the end of
    the horizon, as in the first HCP (thesis 2020, section 2.3).
    """

    fit: Fit = "relaxation"
    binds: Binds = "nothing"

    def __init__(self, first: int | None = None) -> None:
        self._first = first

    @property
    def terms(self) -> Terms:
        """Starts alone."""
        return Terms("none", first=self._first)

    def variables(self, data: ModelData) -> int:
        """Return |Q̄|."""
        return data.job_count

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of aggregated nodes over the horizon."""
        return largest_aggregated_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        if self._first is not None:
            # At the end of the horizon, so that they compete with no job whose start is free.
            ends = data.horizon - data.run_times
            starts[self._first :] = ends[self._first :].tolist()
        goal, constraints = start_objective(data, starts)
        constraints += system_cumulatives(data, starts)
        model = cp.Model(constraints)
        model.minimize(goal)

        def hint(plan: Plan) -> dict[Variable, int]:
            # Starts that are put off are numbers, of which a solver can be given no value.
            values = zip(starts, plan.starts.tolist(), strict=True)
            return {start: value for start, value in values if not isinstance(start, int)}

        return BuiltModel(
            model,
            starts,
            lambda: np.zeros((data.job_count, data.node_count), dtype=np.int64),
            hint,
            self.variables(data),
            [Phase([start for start in starts if not isinstance(start, int)])],
        )
