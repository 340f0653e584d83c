"""Allocators that are objects in Python, as rules in plain Python ask them.

Compiled code cannot ask them, and is never run where the allocator is `EXTERNAL`.
"""

from typing import Protocol

from hpcsched.dispatching.core.array_kernels import zeros
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.system.system import IntArray


class ExternalAllocator(Protocol):
    """What `Choices.external` is where the allocator is `EXTERNAL`."""

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Return how many units of a job go on each node, `[N]`.

        At most `fits`, `[N]`, may go on each, of which `available`, `[R, N]`, is free.
        """

    def take_slots(self, units: int, state: State) -> int:
        """Take as many slots; return the first of their cells."""


def _place(row: int, fits: IntArray, available: IntArray, state: State) -> IntArray:
    external: ExternalAllocator = state.external
    return external.place(row, fits, available)


def _take_slots(units: int, state: State) -> int:
    external: ExternalAllocator = state.external
    return external.take_slots(units, state)


@compiled(_place)
def place_by_external(_row: int, fits: IntArray, _available: IntArray, _state: State) -> IntArray:
    """Return how many units of a job an allocator in Python places on each node, `[N]`."""
    return zeros(len(fits))


@compiled(_take_slots)
def take_external_slots(_units: int, _state: State) -> int:
    """Take the slots that an allocator in Python chooses; return the first of their cells."""
    return -1
