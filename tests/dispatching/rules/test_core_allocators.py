"""Allocators as the core knows them."""

from typing import Any

import numpy as np

from hpcsched import _core
from hpcsched._core import Rule
from hpcsched.dispatching.rules.allocators import (
    Balanced,
    BestFit,
    FirstFit,
    Weighted,
    kind_in_core,
    scarce_in,
)
from hpcsched.dispatching.rules.core_calls import ProblemState
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
    assert kind_in_core(FirstFit()) == _core.Allocator.FIRST_FIT
    assert kind_in_core(BestFit()) == _core.Allocator.BEST_FIT
    assert kind_in_core(LastNode()) == _core.Allocator.EXTERNAL


def test_scarce_types() -> None:
    """Not every node has a GPU; `weighted` treats no type apart, and first fit knows none."""
    mask = scarce_in(MIXED, Balanced())
    assert dict(zip(MIXED.resource_types, mask, strict=True)) == {
        "core": False,
        "gpu": True,
    }
    assert not any(scarce_in(MIXED, Weighted()))
    assert scarce_in(MIXED, FirstFit()) == []


def test_a_python_allocator_is_asked_about_the_job_of_a_row() -> None:
    """Row 1 is the job of 3 units."""
    problem = make_problem(make_system(2, core=4), "job_id units run_time\n1 2 9\n2 3 9")
    filled = ProblemState(Rule.GREEDY, LastNode())
    filled.fill(problem, problem.queue)
    assert filled.asked is filled
    assert filled.place(1, np.array([4, 4]), problem.system.capacity.T).tolist() == [0, 3]
