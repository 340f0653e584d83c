"""Allocators as the core knows them."""

from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state_arrays import new_tables
from hpcsched.dispatching.rules.allocator_codes import (
    PythonAllocator,
    allocator_code,
    chooses_slots,
    scarce_resource_mask,
)
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit
from hpcsched.dispatching.rules.scarce_resources import Balanced, Weighted
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system

MIXED = System((NodeGroup("plain", 2, {"core": 4}), NodeGroup("gpu", 1, {"core": 4, "gpu": 1})))


class LastNode(FirstFit):
    """An allocator of somebody else: all units on the last node."""

    def allocate(self, units: int, room: Any) -> NodeAllocation:
        """Return the last node, and check that the arguments are copies."""
        room.fits[:] = 0
        return NodeAllocation((len(room.fits) - 1,), (units,))


def test_only_the_allocators_themselves_have_codes() -> None:
    """A subclass may do anything else, so that Python must be asked."""
    assert allocator_code(FirstFit()) == codes.FIRST_FIT
    assert allocator_code(BestFit()) == codes.BEST_FIT
    assert allocator_code(LastNode()) == codes.EXTERNAL


def test_scarce_types() -> None:
    """Not every node has a GPU; `weighted` treats no type apart, and first fit knows none."""
    mask = scarce_resource_mask(MIXED, Balanced())
    assert mask is not None
    assert dict(zip(MIXED.resource_types, mask.tolist(), strict=True)) == {
        "core": False,
        "gpu": True,
    }
    mask = scarce_resource_mask(MIXED, Weighted())
    assert mask is not None
    assert not mask.any()
    assert scarce_resource_mask(MIXED, FirstFit()) is None


def test_only_some_choose_slots() -> None:
    """First fit does, best fit needs nodes."""
    assert chooses_slots(FirstFit())
    assert not chooses_slots(BestFit())


def test_a_python_allocator_is_asked_about_the_job_of_a_row() -> None:
    """Row 1 is the job of 3 units; the core's own array of fits stays as it is."""
    problem = make_problem(make_system(2, core=4), "job_id units run_time\n1 2 9\n2 3 9")
    asked, fits = PythonAllocator(LastNode()), np.array([4, 4])
    tables = new_tables(problem.system.capacity, np.zeros(1, dtype=np.int64), 0, 0, 1)
    with asked.about(problem, problem.queue, tables):
        placed = asked.place(1, fits, problem.system.capacity.T)
    assert (placed.tolist(), fits.tolist()) == ([0, 3], [4, 4])
    with pytest.raises(AssertionError):
        asked.place(1, fits, problem.system.capacity.T)
