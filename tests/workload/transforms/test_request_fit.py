"""How many units fit on the idle system, by hand."""

from hpcsched.system.space import asking, idle_room, most_of
from hpcsched.system.system import Request
from tests.builders import one_type

SYSTEM = one_type(4, 3)
"""Two nodes of 4 and 3 cores."""


def test_room() -> None:
    """Units of 2 cores: two on the first node, one on the second, wherever they may run."""
    assert idle_room(SYSTEM, Request(1, (2,))).units == 3
    assert idle_room(SYSTEM, Request(1, (2,), allowed_nodes=frozenset({1}))).units == 1
    assert idle_room(SYSTEM, Request(1, (1,))).units == 7


def test_a_node_for_each_unit() -> None:
    """Two nodes have room for two such units."""
    assert idle_room(SYSTEM, Request(1, (1,), one_unit_per_node=True)).units == 2


def test_the_largest_amount_with_which_units_fit() -> None:
    """Three units: of 2 cores each fit (2 + 1), of 3 two do. One unit has 4 cores at most."""
    assert most_of(SYSTEM, Request(3, (1,)), 0, 9) == 2
    assert most_of(SYSTEM, Request(1, (1,)), 0, 9) == 4
    assert most_of(SYSTEM, Request(1, (1,)), 0, 3) == 3


def test_units_that_fit_with_no_amount() -> None:
    """Three units on nodes of their own, of which there are two."""
    assert most_of(SYSTEM, Request(3, (1,), one_unit_per_node=True), 0, 9) == 0


def test_another_amount() -> None:
    """Only that of the resource type changes."""
    assert asking(Request(3, (1, 5), exclusive=True), 1, 2) == Request(3, (1, 2), exclusive=True)
