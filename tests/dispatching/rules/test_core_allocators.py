"""Allocators as the core knows them."""

from typing import Any

import numpy as np
import pytest

from hpcsched import _core
from hpcsched.dispatching.rules.allocators import Balanced, BestFit, FirstFit, Weighted
from hpcsched.dispatching.rules.core_calls import (
    PythonAllocator,
    chooses_slots,
    core_allocator,
    scarce_resource_mask,
)
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system

MIXED = System((NodeGroup("plain", 2, {"core": 4}), NodeGroup("gpu", 1, {"core": 4, "gpu": 1})))


class LastNode(FirstFit):
    """An allocator of somebody else: all units on the last node."""

    def allocate(self, units: int, room: Any) -> NodeAllocation:
        """Return the last node."""
        return NodeAllocation((len(room.fits) - 1,), (units,))


def test_only_the_allocators_themselves_are_in_the_core() -> None:
    """A subclass may do anything else, so that Python must be asked."""
    assert core_allocator(FirstFit()) == _core.Allocator.FIRST_FIT
    assert core_allocator(BestFit()) == _core.Allocator.BEST_FIT
    assert core_allocator(LastNode()) == _core.Allocator.EXTERNAL


def test_scarce_types() -> None:
    """Not every node has a GPU; `weighted` treats no type apart, and first fit knows none."""
    mask = scarce_resource_mask(MIXED, Balanced())
    assert dict(zip(MIXED.resource_types, mask, strict=True)) == {
        "core": False,
        "gpu": True,
    }
    assert not any(scarce_resource_mask(MIXED, Weighted()))
    assert scarce_resource_mask(MIXED, FirstFit()) == []


def test_only_some_choose_slots() -> None:
    """First fit does, best fit needs nodes."""
    assert chooses_slots(FirstFit())
    assert not chooses_slots(BestFit())


def test_a_python_allocator_is_asked_about_the_job_of_a_row() -> None:
    """Row 1 is the job of 3 units."""
    problem = make_problem(make_system(2, core=4), "job_id units run_time\n1 2 9\n2 3 9")
    asked, fits = PythonAllocator(LastNode()), np.array([4, 4])
    with asked.about(problem, problem.queue):
        placed = asked.place(1, fits, problem.system.capacity.T)
    assert placed.tolist() == [0, 3]
    with pytest.raises(AssertionError):
        asked.place(1, fits, problem.system.capacity.T)
