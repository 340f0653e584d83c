"""PCP'20: units have positions, all different.

Model (Galleguillos et al., PCP'20 preprint, section 3; PCP₅ in the thesis, sections 6.2 and 6.3):
see `positions`; besides, alldifferent([yᵢᵣⱼ]) over the units j of each job i with rnᵢ > 1 and each
resource type r that it asks for, which the boxes imply. Units of a job can change places.

The search takes the job of the highest priority, gives it its earliest start, and then its
positions: the one with the smallest domain first, its largest value. Ours departs in that it takes
them by resource type, that of which least is available now first.
"""

from typing import Any

import cpmpy as cp

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Terms
from hpcsched.dispatching.cp.formulations.position_packing import Positions
from hpcsched.dispatching.cp.formulations.unit_positions import (
    build_by_position,
    largest_area,
    scarcest_first,
    variable_count,
)
from hpcsched.dispatching.planning.model_data import ModelData


class Pcp20:
    """Starts and positions of units; `as_code`: see `Pcp21`."""

    fit: Fit = "restriction"
    binds: Binds = "plan"

    def __init__(self, *, as_code: bool = False) -> None:
        self.terms = Terms("positions", "largest", shortest_first=as_code, ordered=as_code)

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σᵢ rnᵢ · |R|."""
        return variable_count(data, data.type_count)

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of an array of positions over the horizon."""
        return largest_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        types, count = scarcest_first(data), self.variables(data)
        return build_by_position(data, types, count, all_different, self.terms)


def all_different(_data: ModelData, positions: Positions) -> list[Any]:
    """Return that units of a job do not begin at one position, which the boxes imply."""
    return [
        cp.AllDifferent(origins)
        for by_type in positions.origins
        for origins in by_type.values()
        if len(origins) > 1
    ]
