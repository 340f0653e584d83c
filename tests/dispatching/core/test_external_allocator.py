"""Calls of allocators that are Python objects."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.external_allocator import place_by_external, take_external_slots


class Counting:
    """An allocator that puts the row's number of units on the last node."""

    def place(self, row: int, fits: Any, available: Any) -> Any:
        """Return the units on each node; `fits` and `available` are of two nodes."""
        assert (fits.tolist(), available.tolist()) == ([4, 2], [[8, 4]])
        return np.array([0, row])

    def take_slots(self, units: int, state: Any) -> int:
        """Return a cell that tells the units."""
        assert state.external is self
        return 10 * units


STATE: Any = SimpleNamespace(external=Counting())


def test_in_python_the_allocator_of_the_state_is_asked() -> None:
    """It gets the arguments as they are, and its answers are passed on."""
    placed = plain(place_by_external)(2, np.array([4, 2]), np.array([[8, 4]]), STATE)
    assert placed.tolist() == [0, 2]
    assert plain(take_external_slots)(3, STATE) == 30
