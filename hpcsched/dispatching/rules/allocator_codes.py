"""By which codes the core knows allocators, and how it asks those that it does not have itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.slot_kernels import add_cell
from hpcsched.dispatching.core.state import BoolArray
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
"""The allocators that the core has."""

_add_cell = plain(add_cell)


def allocator_code(allocator: Allocator) -> int:
    """Return the code of an allocator; `EXTERNAL` for one that the core does not have."""
    return ALLOCATORS.get(type(allocator), codes.EXTERNAL)


def scarce_resource_mask(system: System, allocator: Allocator) -> BoolArray | None:
    """Return which resource types an allocator counts as critical, `[R]`; None if it is simple."""
    if not isinstance(allocator, Weighted | Balanced | Hybrid):
        return None
    critical = np.zeros(len(system.resource_types), dtype=np.bool_)
    if not isinstance(allocator, Weighted):
        critical[scarce_types(system, allocator.critical)] = True
    return critical


def chooses_slots(allocator: Allocator) -> bool:
    """Say whether an allocator can choose among slots: first fit, or a `SlotAllocator`."""
    return hasattr(allocator, "allocate_slots")


class PythonAllocator:
    """An allocator in Python, asked by the core about the jobs of a problem; see `about`."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._asked: tuple[DispatchingProblem, Sequence[WaitingJob]] | None = None

    @contextmanager
    def about(self, problem: DispatchingProblem, jobs: Sequence[WaitingJob]) -> Iterator[None]:
        """Have questions be about a problem, the jobs being those of the first rows."""
        self._asked = problem, jobs
        yield
        self._asked = None

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Return how many units of a job go on each node, `[N]`."""
        assert self._asked is not None
        problem, jobs = self._asked
        job = jobs[row]
        # What is shown must not change later, as the core's arrays do.
        room = Room(np.array(fits), available.copy(), job.unit_request, problem.system, problem)
        allocation = self._allocator.allocate(job.units, room)
        placed = np.zeros(len(fits), dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        return placed

    def take_slots(self, units: int, state: State) -> int:
        """Take as many slots; return the first of their cells."""
        low, high, counters = state.interval_low, state.interval_high, state.counters
        count = counters[codes.INTERVALS]
        free = list(zip(low[:count].tolist(), high[:count].tolist(), strict=True))
        cell = -1
        for begin, end in reversed(self._allocator.allocate_slots(units, free)):
            before = _add_cell(begin, end, state.cells, counters)
            state.cells[before, 2] = cell
            cell = before
        for k, (begin, end) in enumerate(free):
            low[k], high[k] = begin, end
        counters[codes.INTERVALS] = len(free)
        counters[codes.FREE_SLOTS] -= units
        return cell
