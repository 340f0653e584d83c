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
job is enough, the model is that of PCP'21. No plan is lost; there may be more, as running jobs are
then not lowest in the type that is left out.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.formulation import Binds, BuiltModel, Fit, Terms
from hpcsched.dispatching.cp.formulations.position_packing import Positions
from hpcsched.dispatching.cp.formulations.unit_positions import (
    build_by_position,
    largest_area,
    scarcest_first,
    variable_count,
)
from hpcsched.dispatching.planning.model_data import ModelData


class Pcp21:
    """Starts and positions of units, in order.

    Attributes
    ----------
    symmetric
        Whether the papers' search tries one way to place a job at a start, and then another start.
    """

    fit: Fit = "restriction"
    binds: Binds = "plan"

    def __init__(
        self, *, symmetric: bool = False, shared_positions: bool = False, as_code: bool = False
    ) -> None:
        self.symmetric = symmetric
        self._shared_positions = shared_positions
        # In PCP'21s a failure goes back to the start of the job.
        self.terms = Terms(
            "positions",
            "least",
            back_to_start=symmetric,
            shortest_first=as_code,
            ordered=as_code,
        )

    def variables(self, data: ModelData) -> int:
        """Return |Q̄| + Σᵢ rnᵢ · |R|, R the resource types that have positions."""
        return variable_count(data, len(self._types(data)))

    def magnitude(self, data: ModelData) -> int:
        """Return the largest area of an array of positions over the horizon."""
        return largest_area(data)

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
        return build_by_position(
            data, self._types(data), self.variables(data), ascending, self.terms
        )

    def _types(self, data: ModelData) -> list[int]:
        """Return the resource types that have positions, the scarcest first."""
        types = scarcest_first(data)
        if self._shared_positions:
            for r in types.copy():
                if any(_dominates(data, other, r) for other in types if other != r):
                    types.remove(r)
        return types


def ascending(data: ModelData, positions: Positions) -> list[Any]:
    """Return that units of a job are in the order of their positions.

    That is yᵢᵣⱼ < yᵢᵣⱼ₊₁ for all r at once. As units of a job are equally large and do not overlap,
    the next one begins where the last one ends, or later.
    """
    return [
        origin + int(data.requests[i, r]) <= later
        for i, by_type in enumerate(positions.origins)
        for r, origins in by_type.items()
        for origin, later in pairwise(origins)
    ]


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
