"""PCP'21: units have positions, in order.

Model (Galleguillos et al., CP 2021, section 3): see `positions`; besides, yᵢᵣⱼ < yᵢᵣⱼ₊₁ for the
units j of each job i and each resource type r that it asks for. It loses nothing to have them in
order for all types at once: the units of a job are alike and run at the same time, so that those on
one node can exchange their positions of any one type, and nodes are in the same order in all.

The search takes the job of the highest priority, gives it its earliest start, and then its
positions: the resource type of which least is available now first, units in turn, the least value.

With `symmetric` it is PCP'21s, for jobs that all ask for the same resource types. The model is that
of PCP'21; the paper breaks the symmetry between types in the search alone: where a job's positions
have failed, or are to be improved, it goes back to the job's start rather than to other positions.
That is for solvers that follow the papers' search and can be told so. The others, with a search of
their own, get the model of PCP'21.

`shared_positions` is ours, and breaks that symmetry in the model. A resource type has no positions
of its own where another one dominates it, that is, where no unit and no running job takes a larger
share of a node of it than of the other one. They follow from those of the other type: of origin o
among a positions, with b positions here, ⌈o · b / a⌉. As that moves an end by at least what is
asked for here, what is apart there is apart here. Where no type dominates another, for which one
job is enough, the model is that of PCP'21. No plan is lost or gained: running jobs are in the
same order in all types, the latest end lowest, and whatever meets them is above them in each.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, ModelParts
from hpcsched.dispatching.cp.formulations.unit_positions import (
    POSITION_CONSTRAINTS,
    UnitPositions,
    all_types,
    largest_area,
    scarcest_first,
    variable_count,
    variables_of_all_types,
)
from hpcsched.dispatching.planning.model_data import ModelData


def pcp21(*, symmetric: bool = False, shared_positions: bool = False) -> Formulation:
    """Return PCP'21: starts and positions of units, in order.

    With `symmetric`, PCP'21s: the papers' search tries one way to place a job at a start, and then
    another start.
    """
    return Formulation(
        "PCP'21s" if symmetric else "PCP'21",
        "restriction",
        "plan",
        variables_of_needed_types if shared_positions else variables_of_all_types,
        largest_area,
        needed_types if shared_positions else all_types,
        (*POSITION_CONSTRAINTS, ascending),
        back_to_start=symmetric,
    )


def variables_of_needed_types(data: ModelData) -> int:
    """Return |Q̄| + Σᵢ rnᵢ · |R|, R the resource types that have positions of their own."""
    return variable_count(data, len(_needed(data)))


def needed_types(data: ModelData) -> UnitPositions:
    """Return positions of the resource types that no other one dominates."""
    return UnitPositions(data, _needed(data))


def ascending(parts: ModelParts) -> list[Any]:
    """Return that units of a job are in the order of their positions.

    That is yᵢᵣⱼ < yᵢᵣⱼ₊₁ for all r at once. As units of a job are equally large and do not overlap,
    the next one begins where the last one ends, or later.
    """
    return [
        origin + int(parts.data.requests[i, r]) <= later
        for i, by_type in enumerate(parts.placing.origins)
        for r, origins in by_type.items()
        for origin, later in pairwise(origins)
    ]


def _needed(data: ModelData) -> list[int]:
    types = scarcest_first(data)
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
    # Shares of a node are compared by cross products: quotients of floats could tie wrongly.
    more = wanted[:, np.newaxis] * there > asked[:, np.newaxis] * here
    if (more & (data.room > 0)).any():
        return False
    on, allocated = data.allocated_on, data.allocated
    less = allocated[:, other] * there[on] > allocated[:, one] * here[on]
    return not (less | ((allocated[:, other] > 0) & (allocated[:, one] == 0))).any()
