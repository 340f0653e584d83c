"""The arrays of shapes: made, made longer, and what follows from all of them."""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.core.state import Shapes, with_length
from hpcsched.dispatching.shapes import Shape
from hpcsched.system.system import System


def no_shapes(nodes: int, types: int) -> Shapes:
    """Return shapes of which there are none yet."""
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
    """Return the shapes, and new ones, of which there are some, behind them."""
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
    """Return so many of the shapes."""
    return Shapes._make([column[:count] for column in shapes])


def with_length_of_all(shapes: Shapes, count: int) -> Shapes:
    """Return the shapes, with room for so many."""
    return Shapes._make([with_length(column, count) for column in shapes])


def most_units(shapes: Shapes, system: System) -> int:
    """Return a number of units of any shapes that the nodes cannot hold more than."""
    least = np.where(shapes.asked > 0, shapes.asked, 1 << 40).min(axis=0)
    return int((system.capacity // least).sum()) + system.node_count
