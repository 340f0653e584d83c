"""Shapes: what of a job decides how many of its units fit on a node."""

from typing import NamedTuple

import numpy as np

from hpcsched.system.request import Request
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import IntArray, System


class Shape(NamedTuple):
    """What a unit asks for, `[R]`, and how many units an idle node can hold, `[N]`.

    The latter is 0 where no unit may go, and at most 1 for a scattered request. Units that are
    `exclusive` go on idle nodes only. These and scattered ones are `uncountable`: they cannot be
    planned for by number.
    """

    asked: IntArray
    on_idle: IntArray
    exclusive: bool
    uncountable: bool


def shape_of(system: System, request: Request) -> Shape:
    """Return the shape of a request."""
    on_idle = units_that_fit(system, system.capacity.T, request).astype(np.int64)
    asked = np.array(request.unit_request, dtype=np.int64)
    return Shape(asked, on_idle, request.exclusive, request.exclusive or request.scatter)
