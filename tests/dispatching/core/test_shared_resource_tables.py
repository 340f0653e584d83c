"""Tables of shared resources by hand: power of 60, then 30 from 6 on, and 8 licences."""

import numpy as np

from hpcsched.dispatching.core.shape_arrays import no_shapes, with_shapes
from hpcsched.dispatching.core.shared_resource_tables import (
    OwnDraws,
    first_nodes,
    shared_resource_tables,
    with_nodes,
    with_rows_of_shared,
)
from hpcsched.dispatching.shapes import shape_of
from hpcsched.system.request import Request
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from tests.builders import alike

POWER = SharedResource("power", 60, Draw({"core": 10}, per_node=5), (Change(6, 30),))
LICENCES = SharedResource("licences", 8, Draw())
SYSTEM = System(
    (NodeGroup("small", 2, {"core": 2}), NodeGroup("large", 1, {"core": 4})),
    shared_resources=(POWER, LICENCES),
)


def listed(array: object) -> object:
    """Return an array as a list."""
    assert isinstance(array, np.ndarray)
    return array.tolist()


def test_capacities_and_their_changes() -> None:
    """The one change is power's: changes of the licences are from 1 to 1."""
    tables = shared_resource_tables(SYSTEM, 3)
    assert listed(tables.shared_capacity) == [60, 8]
    assert listed(tables.shared_first) == [0, 1, 1]
    assert (listed(tables.shared_at), listed(tables.shared_offer)) == ([6], [30])
    assert listed(tables.shared_node) == [5, 0]
    assert listed(with_rows_of_shared(tables, 4).shared_own) == [[0, 0]] * 4


def test_a_system_without_shared_resources_has_no_tables() -> None:
    """All fields stay None, so that no code for them is compiled."""
    tables = shared_resource_tables(alike(2, core=1), 3)
    assert set(with_rows_of_shared(tables, 5)) == {None}


def test_nodes_that_a_shape_may_use_are_counted_once() -> None:
    """Units of 1 core fit on all 3 nodes, of 3 cores on one; a count that was narrowed stays."""
    one, three = (shape_of(SYSTEM, Request(1, (cores,))) for cores in (1, 3))
    shapes = with_shapes(no_shapes(3, 1), [one])
    tables = with_nodes(shared_resource_tables(SYSTEM, 3), shapes)
    assert listed(tables.shared_nodes) == [3]
    assert tables.shared_nodes is not None
    tables.shared_nodes[0] = 2
    tables = with_nodes(tables, with_shapes(shapes, [three]))
    assert listed(tables.shared_nodes) == [2, 1]
    assert listed(first_nodes(tables, 1).shared_nodes) == [2]


def test_draws_by_request() -> None:
    """3 units of 2 cores draw 3 · 2 · 10 = 60 apart from their nodes, and no licence."""
    draws = OwnDraws(SYSTEM)
    assert draws.of([Request(3, (2,)), Request(1, (1,)), Request(3, (2,))]) == [
        (60, 0),
        (10, 0),
        (60, 0),
    ]
