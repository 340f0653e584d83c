"""PCP'20: units have positions, all different.

Model (Galleguillos et al., PCP'20 preprint, section 3; PCP₅ in the thesis, sections 6.2 and 6.3):
see `positions`; besides, alldifferent([yᵢᵣⱼ]) over the units j of each job i with rnᵢ > 1 and each
resource type r that it asks for, which the boxes imply. Units of a job can change places.

The search takes the job of the highest priority, gives it its earliest start, and then its
positions: the one with the smallest domain first, its largest value. Ours departs in that it takes
them by resource type, that of which least is available now first.
"""

import cpmpy as cp

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Phase, Variable
from hpcsched.dispatching.cp.formulations.positions import (
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


class Pcp20:
    """Starts and positions of units."""

    fit: Fit = "restriction"
    binds: Binds = "plan"

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σᵢ rnᵢ · |R|."""
        return variable_count(data, data.type_count)

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of an array of positions over the horizon."""
        return largest_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        starts = start_variables(data)
        goal, constraints = objective(data, starts)
        types = scarcest_first(data)
        positions, on_nodes = place_units(data, types)
        constraints += on_nodes
        constraints += packed(data, starts, positions, types)
        constraints += [
            cp.AllDifferent(origins)
            for by_type in positions.origins
            for origins in by_type.values()
            if len(origins) > 1
        ]
        model = cp.Model(constraints)
        model.minimize(goal)

        def hint(plan: Plan) -> dict[Variable, int]:
            values: dict[Variable, int] = dict(zip(starts, plan.starts.tolist(), strict=True))
            return values | hint_positions(data, positions, plan, types)

        phases = [
            phase
            for start, by_type in zip(starts, positions.origins, strict=True)
            for phase in (
                Phase([start]),
                *(Phase(origins, "largest") for origins in by_type.values()),
            )
        ]
        return BuiltModel(
            model,
            starts,
            lambda: units_on_nodes(data, positions),
            hint,
            self.variables(data),
            phases,
        )
