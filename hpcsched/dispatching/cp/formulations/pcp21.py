"""PCP'21: units have positions, in order.

Model (Galleguillos et al., CP 2021, section 3): see `positions`; besides, yᵢᵣⱼ < yᵢᵣⱼ₊₁ for the
units j of each job i and each resource type r that it asks for. It loses nothing to have them in
order for all types at once: the units of a job are alike and run at the same time, so that those on
one node can exchange their positions of any one type, and nodes are in the same order in all.

The search takes the job of the highest priority, gives it its earliest start, and then its
positions: the resource type of which least is available now first, units in turn, the least value.

With `symmetric` it is PCP'21s, for jobs that all ask for the same resource types. The paper breaks
the symmetry between types in the search: where a job's positions have failed, or are to be
improved, it goes back to the job's start rather than to other positions. A solver that is given a
model cannot be told so, and as it stands it could lose all plans; ours is a model without that
symmetry. A resource type has no positions of its own where another one dominates it, that is, where
no unit and no running job takes a larger share of a node of it than of the other one. They follow
from those of the other type: of origin o among a positions, with b positions here, ⌈o · b / a⌉. As
that moves an end by at least what is asked for here, what is apart there is apart here. Where no
type dominates another, it is PCP'21. No plan is lost; there may be more, as running jobs are then
not lowest in the type that is left out.
"""

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Phase, Variable
from hpcsched.dispatching.cp.formulations.positions import (
    ascending,
    hint_positions,
    largest_area,
    packed,
    place_units,
    scarcest_first,
    units_on_nodes,
    variable_count,
)
from hpcsched.dispatching.cp.formulations.scheduling import objective, start_variables
from hpcsched.dispatching.cp.model_data import ModelData
from hpcsched.dispatching.cp.plan import Plan


class Pcp21:
    """Starts and positions of units, in order; with `symmetric`, of dominating types alone."""

    fit: Fit = "restriction"
    binds: Binds = "plan"

    def __init__(self, *, symmetric: bool = False) -> None:
        self._symmetric = symmetric

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σᵢ rnᵢ · |R|, R the resource types that have positions."""
        return variable_count(data, len(self._types(data)))

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of an array of positions over the horizon."""
        return largest_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        goal, constraints = objective(data, starts)
        types = self._types(data)
        positions, on_nodes = place_units(data, types)
        constraints += on_nodes
        constraints += packed(data, starts, positions, types)
        constraints += ascending(data, positions)
        model = cp.Model(constraints)
        model.minimize(goal)

        def hint(plan: Plan) -> dict[Variable, int]:
            values: dict[Variable, int] = dict(zip(starts, plan.starts.tolist(), strict=True))
            return values | hint_positions(data, positions, plan, types)

        phases = [
            phase
            for start, by_type in zip(starts, positions.origins, strict=True)
            for phase in (Phase([start]), *(Phase(origins) for origins in by_type.values()))
        ]
        return BuiltModel(
            model,
            starts,
            lambda: units_on_nodes(data, positions),
            hint,
            self.variables(data),
            phases,
        )

    def _types(self, data: ModelData) -> list[int]:
        """Return the resource types that have positions, those first of which least is left."""
        types = scarcest_first(data)
        if self._symmetric:
            for r in types.copy():
                if any(_dominates(data, other, r) for other in types if other != r):
                    types.remove(r)
        return types


def _dominates(data: ModelData, one: int, other: int) -> bool:
    """Say whether nothing takes a larger share of a node of the other resource type than of one."""
    asked, wanted = data.requests[:, one], data.requests[:, other]
    if ((wanted > 0) & (asked == 0)).any():
        return False
    there, here = data.capacity[:, one], data.capacity[:, other]
    more = wanted[:, np.newaxis] * there > asked[:, np.newaxis] * here
    if (more & (data.room > 0)).any():
        return False
    on, held = data.held_on, data.held
    less = held[:, other] * there[on] > held[:, one] * here[on]
    return not (less | ((held[:, other] > 0) & (held[:, one] == 0))).any()
