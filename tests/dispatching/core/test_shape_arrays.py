"""Arrays of shapes by hand: two nodes of 4 and 6 cores."""

import numpy as np

from hpcsched.dispatching.core.shape_arrays import (
    first_shapes,
    most_units,
    no_shapes,
    with_length_of_all,
    with_shapes,
)
from hpcsched.dispatching.shapes import shape_of
from hpcsched.system.request import Request
from tests.builders import one_type

SYSTEM = one_type(4, 6)
TWO, THREE = (shape_of(SYSTEM, Request(1, (cores,))) for cores in (2, 3))


def test_shapes_are_added_behind_the_others() -> None:
    """Units of 2 cores fit 2 and 3 times on the nodes, units of 3 cores 1 and 2 times."""
    shapes = with_shapes(with_shapes(no_shapes(2, 1), [TWO]), [THREE])
    assert shapes.asked.tolist() == [[2], [3]]
    assert shapes.on_idle.tolist() == [[2, 3], [1, 2]]
    assert shapes.shape_waiting.tolist() == [0, 0]


def test_counts_of_earlier_shapes_are_kept() -> None:
    """Five jobs of the first shape wait; adding and cutting shapes leaves that."""
    shapes = with_shapes(no_shapes(2, 1), [TWO])
    shapes.shape_waiting[0] = 5
    longer = with_shapes(shapes, [THREE])
    assert longer.shape_waiting.tolist() == [5, 0]
    assert first_shapes(longer, 1).asked.tolist() == [[2]]
    assert with_length_of_all(longer, 4).shape_waiting.tolist() == [5, 0, 0, 0]


def test_a_bound_on_units() -> None:
    """The least request is 2 cores: 4 / 2 + 6 / 2 = 5, and one for each of the 2 nodes."""
    assert most_units(with_shapes(no_shapes(2, 1), [TWO, THREE]), SYSTEM) == 5 + 2
    assert most_units(with_shapes(no_shapes(2, 1), [THREE]), SYSTEM) == 1 + 2 + 2


def test_types_that_nobody_requests_bound_nothing() -> None:
    """A shape that requests 0 of a type does not divide by it."""
    shapes = with_shapes(no_shapes(2, 1), [TWO._replace(asked=np.array([0]))])
    assert most_units(shapes, SYSTEM) == 2
