"""Shapes of requests on nodes of 4 and 6 cores."""

from hpcsched.dispatching.core_state import shape_of
from hpcsched.system.system import Request
from tests.builders import one_type

SYSTEM = one_type(4, 6)


def test_units_on_idle_nodes() -> None:
    """Units of 2 cores fit 4 / 2 and 6 / 2 times, whatever their number."""
    for units in (1, 100):
        shape = shape_of(SYSTEM, Request(units, (2,)))
        assert (shape.asked.tolist(), shape.on_idle.tolist()) == ([2], [2, 3])
        assert not shape.uncountable


def test_one_unit_per_node() -> None:
    """Only one unit counts on each node, and units cannot be planned by number."""
    shape = shape_of(SYSTEM, Request(2, (2,), one_unit_per_node=True))
    assert shape.on_idle.tolist() == [1, 1]
    assert (shape.exclusive, shape.uncountable) == (False, True)


def test_whole_nodes() -> None:
    """Exclusive units need idle nodes, and cannot be planned by number either."""
    shape = shape_of(SYSTEM, Request(2, (2,), exclusive=True))
    assert (shape.exclusive, shape.uncountable) == (True, True)


def test_nodes_that_are_not_eligible_have_no_room() -> None:
    """Only node 1 is allowed."""
    shape = shape_of(SYSTEM, Request(1, (2,), allowed_nodes=frozenset({1})))
    assert shape.on_idle.tolist() == [0, 3]
