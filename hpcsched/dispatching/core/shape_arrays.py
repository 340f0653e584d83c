"""Arrays of shapes: creation, extension, and a bound derived from all of them."""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.core.state import Shapes
from hpcsched.dispatching.core.state_arrays import with_length
from hpcsched.dispatching.shapes import Shape
from hpcsched.system.system import System


def no_shapes(nodes: int, types: int) -> Shapes:
    """Return empty arrays of shapes."""
    flags, numbers = np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
    on_nodes = np.empty((0, nodes), dtype=np.int64)
    return Shapes(
        np.empty((0, types), dtype=np.int64),
        on_nodes,
        flags,
        flags,
        on_nodes,
        numbers,
        numbers,
        numbers,
    )


def with_shapes(shapes: Shapes, new: Sequence[Shape]) -> Shapes:
    """Return the arrays extended by at least one new shape."""
    count = len(shapes.asked) + len(new)
    return Shapes(
        np.concatenate([shapes.asked, [shape.asked for shape in new]]),
        np.concatenate([shapes.on_idle, [shape.on_idle for shape in new]]),
        np.concatenate([shapes.exclusive, [shape.exclusive for shape in new]]),
        np.concatenate([shapes.uncountable, [shape.uncountable for shape in new]]),
        with_length(shapes.fits, count),
        with_length(shapes.fitting, count),
        with_length(shapes.shape_waiting, count),
        with_length(shapes.active, count),
    )


def first_shapes(shapes: Shapes, count: int) -> Shapes:
    """Return the arrays of the first `count` shapes."""
    return Shapes._make([column[:count] for column in shapes])


def with_length_of_all(shapes: Shapes, count: int) -> Shapes:
    """Return the arrays with room for `count` shapes."""
    return Shapes._make([with_length(column, count) for column in shapes])


def most_units(shapes: Shapes, system: System) -> int:
    """Return an upper bound on the units of any shapes that the nodes hold at once."""
    # 1 << 40 stands for types that no shape asks for, so that these bound nothing.
    least = np.where(shapes.asked > 0, shapes.asked, 1 << 40).min(axis=0)
    return int((system.capacity // least).sum()) + system.node_count
