"""Shapes: the part of a request that determines the number of its units that fit on a node."""

from typing import NamedTuple

import numpy as np

from hpcsched.system.space import units_that_fit
from hpcsched.system.system import IntArray, Request, System


class Shape(NamedTuple):
    """Amounts per unit and capacity of idle nodes for one kind of unit.

    Attributes
    ----------
    asked
        Amount of each resource type per unit, `[R]`.
    on_idle
        Number of units that an idle node can hold, `[N]`: 0 on nodes that are not eligible, at most
        1 for jobs with one unit per node.
    exclusive
        Whether units go on idle nodes only.
    uncountable
        Whether units cannot be planned by number: exclusive ones and those with one unit per node.
    """

    asked: IntArray
    on_idle: IntArray
    exclusive: bool
    uncountable: bool


def shape_of(system: System, request: Request) -> Shape:
    """Return the shape of a request."""
    # With the whole capacity free, the fit counts are those of idle nodes.
    on_idle = units_that_fit(system, system.capacity.T, request).astype(np.int64)
    asked = np.array(request.unit_request, dtype=np.int64)
    return Shape(asked, on_idle, request.exclusive, request.exclusive or request.one_unit_per_node)
