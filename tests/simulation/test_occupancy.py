"""Accounts of free resources state the same in both forms."""

import pytest

from hpcsched.simulation.occupancy import NodeOccupancy, SlotOccupancy, idle_system
from hpcsched.system.space import NodeAllocation, OvercommitError, SlotAllocation
from hpcsched.system.system import Request
from tests.builders import alike

ONE = Request(1, (1,))


def test_nodes() -> None:
    """Of two nodes with two cores each, one core of the second is taken and given back."""
    occupancy = NodeOccupancy(alike(2, core=2))
    taken = occupancy.claim(NodeAllocation((1,), (1,)), ONE)
    free, slot_map, amounts = occupancy.snapshot()
    assert (free, slot_map) == (None, None)
    assert amounts is not None
    assert amounts.tolist() == [[2, 1]]
    assert not amounts.flags.writeable
    occupancy.release(taken, ONE)
    # A snapshot stays as it was.
    assert amounts.tolist() == [[2, 1]]
    assert occupancy.snapshot()[2].tolist() == [[2, 2]]


def test_slots() -> None:
    """Slots 0 and 1 are on the first node, 2 and 3 on the second."""
    occupancy = SlotOccupancy(alike(2, core=2), (1,))
    taken = occupancy.claim(SlotAllocation(((1, 3),), occupancy.slot_map), ONE._replace(units=2))
    free, slot_map, amounts = occupancy.snapshot()
    assert (free, amounts) == (((0, 1), (3, 4)), None)
    assert slot_map is occupancy.slot_map
    occupancy.release(taken, ONE)
    assert occupancy.snapshot()[0] == ((0, 4),)


def test_what_is_not_free() -> None:
    """It is refused, with the node."""
    occupancy = NodeOccupancy(alike(2, core=2))
    with pytest.raises(OvercommitError) as caught:
        occupancy.claim(NodeAllocation((1,), (3,)), ONE)
    assert caught.value.node == 1


@pytest.mark.parametrize(("request_of_all", "kind"), [(None, NodeOccupancy), ((1,), SlotOccupancy)])
def test_which_of_the_two(request_of_all: tuple[int, ...] | None, kind: type) -> None:
    """Slots are counted where all units ask for the same."""
    assert type(idle_system(alike(2, core=2), request_of_all)) is kind
