"""Codes of the core's allocators, and the bridge from the core to allocators written in Python."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room, placed_by, slots_taken_by
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.cell_lists import add_cells
from hpcsched.dispatching.core.state import BoolArray, Tables
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.dispatching.rules.scarce_resources import Balanced, Hybrid, Weighted, scarce_types
from hpcsched.system.system import IntArray, System

ALLOCATORS = {
    FirstFit: codes.FIRST_FIT,
    BestFit: codes.BEST_FIT,
    KeepScarce: codes.KEEP_SCARCE,
    Weighted: codes.WEIGHTED,
    Balanced: codes.BALANCED,
    Hybrid: codes.HYBRID,
}
"""Codes of the allocators that the core implements."""


def allocator_code(allocator: Allocator) -> int:
    """Return the core's code of an allocator; `EXTERNAL` for one that runs in Python."""
    return ALLOCATORS.get(type(allocator), codes.EXTERNAL)


def scarce_resource_mask(system: System, allocator: Allocator) -> BoolArray | None:
    """Return which resource types an allocator treats as scarce.

    Parameters
    ----------
    system
        The system.
    allocator
        The allocator.

    Returns
    -------
    BoolArray | None
        Mask over resource types, `[R]`; None for an allocator that ignores scarcity.
    """
    if not isinstance(allocator, Weighted | Balanced | Hybrid):
        return None
    scarce_resources = np.zeros(len(system.resource_types), dtype=np.bool_)
    if not isinstance(allocator, Weighted):
        scarce_resources[scarce_types(system, allocator.scarce_resources)] = True
    return scarce_resources


def chooses_slots(allocator: Allocator) -> bool:
    """Check whether an allocator can choose slots: first fit, or a `SlotAllocator`."""
    return hasattr(allocator, "allocate_slots")


class PythonAllocator:
    """Adapter that lets the core call an allocator written in Python.

    Parameters
    ----------
    allocator
        An `Allocator`, optionally a `SlotAllocator`.
    """

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._asked: tuple[DispatchingProblem, Sequence[WaitingJob], Tables] | None = None

    @contextmanager
    def about(
        self, problem: DispatchingProblem, jobs: Sequence[WaitingJob], tables: Tables
    ) -> Iterator[None]:
        """Set the problem, the jobs and the tables that calls within the context refer to.

        Parameters
        ----------
        problem
            Dispatching problem of the round.
        jobs
            Jobs of the first rows of the core's job table.
        tables
            Tables of the core's state.
        """
        self._asked = problem, jobs, tables
        yield
        self._asked = None

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Place a job's units on nodes.

        Parameters
        ----------
        row
            Row of the job.
        fits
            Number of units that each node can hold, `[N]`.
        available
            Free amount by resource type and node, `[R, N]`.

        Returns
        -------
        IntArray
            Number of units on each node, `[N]`.
        """
        assert self._asked is not None
        problem, jobs, _ = self._asked
        job = jobs[row]
        # Copies, since an allocator may keep what it is given, and the core reuses its arrays.
        room = Room(np.array(fits), available.copy(), job.unit_request, problem.system, problem)
        allocation = placed_by(self._allocator, job.units, room)
        placed = np.zeros(len(fits), dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        return placed

    def take_slots(self, units: int) -> int:
        """Take slots for a job out of the free intervals.

        Parameters
        ----------
        units
            Number of slots.

        Returns
        -------
        int
            First cell of the list of intervals taken.
        """
        assert self._asked is not None
        _, _, tables = self._asked
        low, high, counters = tables.interval_low, tables.interval_high, tables.counters
        count = counters[codes.INTERVALS]
        free = list(zip(low[:count].tolist(), high[:count].tolist(), strict=True))
        taken = slots_taken_by(self._allocator, units, free)
        for k, (begin, end) in enumerate(free):
            low[k], high[k] = begin, end
        counters[codes.INTERVALS] = len(free)
        counters[codes.FREE_SLOTS] -= units
        return add_cells(taken, tables)
