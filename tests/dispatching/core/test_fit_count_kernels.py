"""Fit counts by hand: two nodes of 4 cores and 16 GB, and one of 8 cores and 8 GB."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.core import codes, fit_count_kernels
from hpcsched.dispatching.core.compiled import plain

units_on_node = plain(fit_count_kernels.units_on_node)
allocated_on_node = plain(fit_count_kernels.allocated_on_node)
change_node = plain(fit_count_kernels.change_node)
take_from = plain(fit_count_kernels.take_from)
room_on = plain(fit_count_kernels.room_on)
add_waiting = plain(fit_count_kernels.add_waiting)
count_fits = plain(fit_count_kernels.count_fits)
remove_waiting = plain(fit_count_kernels.remove_waiting)

CAPACITY = np.array([[4, 16], [4, 16], [8, 8]])
# A unit of each shape: 1 core with 4 GB, 2 cores alone, whole nodes of 3 cores, and 8 cores.
SMALL, CORES, WHOLE, LARGE = range(4)
ASKED = np.array([[1, 4], [2, 0], [3, 0], [8, 0]])
ON_IDLE = np.array([[4, 4, 2], [2, 2, 4], [1, 1, 2], [0, 0, 1]])
EXCLUSIVE = np.array([False, False, True, False])


def state(*queue: int, rule: int = codes.GREEDY) -> Any:
    """Return an idle state in which jobs of these shapes are queued and not yet counted."""
    counters = np.zeros(64, dtype=np.int64)
    counters[codes.QUEUED] = len(queue)
    jobs = np.zeros((max(len(queue), 1), 64), dtype=np.int64)
    jobs[: len(queue), codes.SHAPE] = queue
    return SimpleNamespace(
        rule=rule,
        counters=counters,
        queue=np.arange(len(queue)),
        jobs=jobs,
        available=CAPACITY.T.copy(),
        capacity=CAPACITY,
        free_amounts=CAPACITY.sum(axis=0),
        asked=ASKED,
        on_idle=ON_IDLE,
        exclusive=EXCLUSIVE,
        active=np.zeros(4, dtype=np.int64),
        shape_waiting=np.zeros(4, dtype=np.int64),
        fits=np.zeros((4, 3), dtype=np.int64),
        fitting=np.zeros(4, dtype=np.int64),
    )


@pytest.mark.parametrize(
    ("shape", "cores", "memory", "units"),
    [
        (SMALL, 4, 16, 4),
        # Of 3 cores and 11 GB: min(3, 2).
        (SMALL, 3, 11, 2),
        (SMALL, 4, 3, 0),
        # Memory does not matter to a shape that asks for none.
        (CORES, 3, 0, 1),
        (CORES, 1, 16, 0),
        # A shape that takes whole nodes minds whatever runs there.
        (WHOLE, 4, 16, 1),
        (WHOLE, 4, 15, 0),
        # It does not fit on the idle node.
        (LARGE, 4, 16, 0),
    ],
)
def test_units_on_a_node(shape: int, cores: int, memory: int, units: int) -> None:
    """The scarcest resource type counts."""
    available = np.array([[cores, 4, 8], [memory, 16, 8]])
    found = units_on_node(0, shape, available, ASKED, ON_IDLE, EXCLUSIVE, CAPACITY)
    assert found == units
    here = state()
    assert room_on(0, shape, available, here) == units


def test_what_units_are_allocated() -> None:
    """Three small units have 3 cores and 12 GB; a unit that is alone has the whole node."""
    given = (ASKED, EXCLUSIVE, CAPACITY)
    assert [allocated_on_node(0, 3, r, SMALL, *given) for r in (0, 1)] == [3, 12]
    assert [allocated_on_node(2, 1, r, WHOLE, *given) for r in (0, 1)] == [8, 8]


def test_the_first_job_of_a_shape_counts_its_units() -> None:
    """4 + 4 + 2 small units fit, and 2 + 2 + 4 of two cores; of three jobs two are of one shape."""
    here = state(SMALL, CORES, SMALL)
    count_fits(here)
    assert here.counters[codes.ACTIVE_SHAPES] == 2
    assert here.active[:2].tolist() == [SMALL, CORES]
    assert here.shape_waiting.tolist() == [2, 1, 0, 0]
    assert here.fits[:2].tolist() == [[4, 4, 2], [2, 2, 4]]
    assert here.fitting.tolist() == [10, 8, 0, 0]


def test_allocations_update_the_counts_of_waiting_shapes() -> None:
    """3 small units on node 0 leave it 1 core and 4 GB; what is released comes back."""
    here = state(SMALL, CORES, WHOLE)
    count_fits(here)
    change_node(0, 3, SMALL, 1, here)
    assert here.available.tolist() == [[1, 4, 8], [4, 16, 8]]
    assert here.free_amounts.tolist() == [13, 28]
    assert here.fits[:3, 0].tolist() == [1, 0, 0]
    assert here.fitting.tolist() == [7, 6, 3, 0]
    change_node(2, 1, WHOLE, 1, here)
    assert here.available[:, 2].tolist() == [0, 0]
    assert here.fitting.tolist() == [5, 2, 1, 0]
    change_node(0, 3, SMALL, -1, here)
    change_node(2, 1, WHOLE, -1, here)
    assert here.available.tolist() == CAPACITY.T.tolist()
    assert here.fitting.tolist() == [10, 8, 4, 0]


def test_a_shape_that_nobody_waits_for_is_not_counted() -> None:
    """The last job of a shape makes it inactive; its counts are made anew for the next one."""
    here = state(SMALL, CORES, SMALL)
    count_fits(here)
    remove_waiting(SMALL, here)
    assert here.counters[codes.ACTIVE_SHAPES] == 2
    remove_waiting(SMALL, here)
    assert here.counters[codes.ACTIVE_SHAPES] == 1
    assert here.active[0] == CORES
    change_node(1, 2, CORES, 1, here)
    assert here.fitting[CORES] == 6
    # Stale until a job of the shape comes again: node 1 then has no core left.
    assert here.fitting[SMALL] == 10
    add_waiting(SMALL, here)
    assert here.active[:2].tolist() == [CORES, SMALL]
    assert here.fits[SMALL].tolist() == [4, 0, 2]
    assert here.fitting[SMALL] == 6


def test_amounts_at_another_time() -> None:
    """Only the given amounts change, not the state's."""
    here = state(SMALL)
    later = here.available.copy()
    take_from(1, 2, SMALL, 1, later, here)
    assert later.tolist() == [[4, 2, 8], [16, 8, 8]]
    assert room_on(1, CORES, later, here) == 1
    take_from(1, 2, SMALL, -1, later, here)
    take_from(2, 1, WHOLE, 1, later, here)
    assert later.tolist() == [[4, 4, 0], [16, 16, 0]]
    assert here.available.tolist() == CAPACITY.T.tolist()


def test_nothing_is_counted_where_python_decides() -> None:
    """Plugins look at free amounts themselves."""
    here = state(SMALL, rule=codes.IN_PYTHON)
    count_fits(here)
    remove_waiting(SMALL, here)
    assert here.counters[codes.ACTIVE_SHAPES] == 0
    assert here.shape_waiting.tolist() == here.fitting.tolist() == [0] * 4
