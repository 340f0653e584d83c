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

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts
from hpcsched.dispatching.cp.formulations.unit_positions import (
    POSITION_CONSTRAINTS,
    all_types,
    largest_area,
    variables_of_all_types,
)


def pcp20() -> Formulation:
    """Return PCP'20: starts and positions of units."""
    return Formulation(
        "PCP'20",
        "restriction",
        "plan",
        variables_of_all_types,
        largest_area,
        all_types,
        (*POSITION_CONSTRAINTS, all_different),
        last_node_first=True,
    )


def all_different(parts: ModelParts) -> list[Any]:
    """Return that units of a job do not begin at one position, which the boxes imply."""
    return [
        cp.AllDifferent(origins)
        for by_type in parts.placing.origins
        for origins in by_type.values()
        if len(origins) > 1
    ]
