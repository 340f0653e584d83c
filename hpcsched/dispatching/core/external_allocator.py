"""Calls from rules in plain Python to allocators that are Python objects.

Compiled code cannot call them, and is never run with the allocator `EXTERNAL`.
"""

from typing import Protocol

from hpcsched.dispatching.core.array_kernels import zeros
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.system.system import IntArray


class ExternalAllocator(Protocol):
    """Protocol of `Choices.external` with the allocator `EXTERNAL`."""

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Place a job's units on nodes.

        Parameters
        ----------
        fits
            Number of units that each node can hold, `[N]`.
        available
            Free amounts, `[R, N]`.

        Returns
        -------
        IntArray
            Number of units on each node, `[N]`.
        """

    def take_slots(self, units: int, state: State) -> int:
        """Take slots for a job; return the first cell of their list."""


def _place(row: int, fits: IntArray, available: IntArray, state: State) -> IntArray:
    external: ExternalAllocator = state.external
    return external.place(row, fits, available)


def _take_slots(units: int, state: State) -> int:
    external: ExternalAllocator = state.external
    return external.take_slots(units, state)


@compiled(_place)
def place_by_external(_row: int, fits: IntArray, _available: IntArray, _state: State) -> IntArray:
    """Return the number of units that a Python allocator places on each node, `[N]`."""
    return zeros(len(fits))


@compiled(_take_slots)
def take_external_slots(_units: int, _state: State) -> int:
    """Take the slots that a Python allocator chooses; return the first cell of their list."""
    return -1
