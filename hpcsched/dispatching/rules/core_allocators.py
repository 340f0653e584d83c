"""Allocators of the core, and the bridge from the core to allocators written in Python."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hpcsched import _core
from hpcsched.dispatching.allocator import Allocator, Room, placed_by, slots_taken_by
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.dispatching.rules.scarce_resources import Balanced, Hybrid, Weighted, scarce_types
from hpcsched.system.space import Interval
from hpcsched.system.system import IntArray, System

ALLOCATORS = {
    FirstFit: _core.Allocator.FIRST_FIT,
    BestFit: _core.Allocator.BEST_FIT,
    KeepScarce: _core.Allocator.KEEP_SCARCE,
    Weighted: _core.Allocator.WEIGHTED,
    Balanced: _core.Allocator.BALANCED,
    Hybrid: _core.Allocator.HYBRID,
}
"""The allocators that the core implements."""


def core_allocator(allocator: Allocator) -> _core.Allocator:
    """Return the core's allocator; `EXTERNAL` for one that runs in Python."""
    return ALLOCATORS.get(type(allocator), _core.Allocator.EXTERNAL)


def scarce_resource_mask(system: System, allocator: Allocator) -> list[bool]:
    """Return which resource types an allocator treats as scarce, `[R]`; empty if it has none."""
    if not isinstance(allocator, Weighted | Balanced | Hybrid):
        return []
    scarce_resources = np.zeros(len(system.resource_types), dtype=np.bool_)
    if not isinstance(allocator, Weighted):
        scarce_resources[scarce_types(system, allocator.scarce_resources)] = True
    return scarce_resources.tolist()


def chooses_slots(allocator: Allocator) -> bool:
    """Check whether an allocator can choose slots: first fit, or a `SlotAllocator`."""
    return hasattr(allocator, "allocate_slots")


class PythonAllocator:
    """Adapter that lets the core call an allocator written in Python."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._asked: tuple[DispatchingProblem, Sequence[WaitingJob]] | None = None

    @contextmanager
    def about(self, problem: DispatchingProblem, jobs: Sequence[WaitingJob]) -> Iterator[None]:
        """Set the problem, and the jobs of the first rows, that calls within the context mean."""
        self._asked = problem, jobs
        yield
        self._asked = None

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Return the units that a job gets on each node, `[N]`.

        Parameters
        ----------
        fits
            Number of units that each node can hold, `[N]`.
        available
            Free amount by resource type and node, `[R, N]`.
        """
        assert self._asked is not None
        problem, jobs = self._asked
        job = jobs[row]
        room = Room(fits, available, job.unit_request, problem.system, problem)
        allocation = placed_by(self._allocator, job.units, room)
        placed = np.zeros(len(fits), dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        return placed

    def take_slots(
        self, units: int, free: list[Interval]
    ) -> tuple[Sequence[Interval], Sequence[Interval]]:
        """Return the slots that a job gets, and the free intervals that are left."""
        taken = slots_taken_by(self._allocator, units, free)
        return taken, free
