"""`check_allocator` accepts allocators that are right, and finds each mistake of others."""

import numpy as np
import pytest

from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit
from hpcsched.errors import PluginError
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import check_allocator


class Wrong:
    """Allocator that makes one mistake."""

    def __init__(self, mistake: str) -> None:
        self._mistake = mistake
        self._calls = 0

    def allocate(self, units: int, room: Room):  # noqa: PLR0911 (one for each mistake)
        """Place the units, with the mistake."""
        nodes, placed = fill(units, room.fits)
        self._calls += 1
        match self._mistake:
            case "type":
                return nodes, placed
            case "numbers":
                return NodeAllocation(nodes, tuple(map(float, placed)))
            case "order":
                return NodeAllocation(nodes[::-1], placed[::-1])
            case "full":
                return NodeAllocation((0,), (units + 100,))
            case "node":
                return NodeAllocation((99,), (units,))
            case "fewer" if units > 1:
                return fill(units - 1, room.fits)
            case "changes":
                room.fits[:] = 0
        return NodeAllocation(nodes, placed)


class Drifts:
    """Places on other nodes in the second replay."""

    made = 0

    def __init__(self) -> None:
        Drifts.made += 1
        self._second = Drifts.made % 2 == 0

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Fill from the other end the second time."""
        backwards = range(len(room.fits) - 1, -1, -1) if self._second else range(len(room.fits))
        return fill(units, room.fits, np.array(backwards))


@pytest.mark.parametrize("make", [FirstFit, BestFit, lambda: Wrong("none")])
def test_right(make) -> None:
    """Allocators that place all units where they fit pass."""
    check_allocator(make, seeds=[0])


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", "expected a NodeAllocation, found"),
        ("numbers", "expected tuples of whole numbers, found"),
        ("order", "expected ascending nodes with the units on each, found"),
        ("full", r"expected at most \d+ units on node 0, found 10\d"),
        ("node", "expected nodes from 0 to 15, found 99"),
        ("fewer", r"expected \d+ units, found \d+"),
        ("changes", "raised ValueError: assignment destination is read-only"),
    ],
)
def test_wrong(mistake: str, message: str) -> None:
    """Each mistake is named, with the workload in a note."""
    with pytest.raises((AssertionError, PluginError), match=message) as caught:
        check_allocator(lambda: Wrong(mistake), seeds=[0])
    assert "on sample workload 'one-slot', seed 0, as " in caught.value.__notes__[-1]


def test_not_repeatable() -> None:
    """Two replays must be equal."""
    with pytest.raises((AssertionError, PluginError), match="two replays differ"):
        check_allocator(Drifts, seeds=[0])
