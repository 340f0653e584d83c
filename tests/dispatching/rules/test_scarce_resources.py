"""Allocators for unlike nodes: what they prefer, and that they place what they are asked to."""

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.rules.allocators import Balanced, Hybrid, Weighted
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.dispatching.test_allocators import placed_on, rooms
from tests.strategies import tries

ALLOCATORS = {
    "balanced": Balanced(),
    "scarce core": Balanced(("core", "gpu")),
    "weighted": Weighted(),
    "hybrid": Hybrid(),
    "hybrid, nothing scarce": Hybrid(()),
}

SYSTEM = System(
    (
        NodeGroup("gpu", 2, {"core": 4, "gpu": 2}),
        NodeGroup("mic", 2, {"core": 4, "mic": 1}),
        NodeGroup("cpu", 2, {"core": 4}),
    )
)
"""Nodes 0 and 1 have GPUs, 2 and 3 a MIC, 4 and 5 neither."""


def room(request, free=None, problem=None):
    """Return what may be chosen from for a request, with `free` as amounts by node, `[N, R]`."""
    available = SYSTEM.capacity.T if free is None else np.array(free).T
    asked = SYSTEM.request(request)
    fits = np.min([available[r] // amount for r, amount in enumerate(asked) if amount], axis=0)
    return Room(fits, available, asked, SYSTEM, problem)


@pytest.mark.parametrize("name", ALLOCATORS)
@tries(100)
@given(drawn=rooms())
def test_all_units_are_placed_within_what_fits(name, drawn):
    """Every unit is placed, on nodes in ascending order, and no node gets more than fit."""
    given_room, units = drawn
    allocation = ALLOCATORS[name].allocate(units, given_room)
    assert sum(allocation.units) == units
    assert list(allocation.nodes) == sorted(set(allocation.nodes))
    for node, count in zip(allocation.nodes, allocation.units, strict=True):
        assert 1 <= count <= given_room.fits[node]


@pytest.mark.parametrize("allocator", [Balanced(), Hybrid()])
def test_nodes_without_scarce_resources_come_first(allocator):
    """Then those that have some take turns, a GPU node first, as nodes rank alike."""
    placed = [placed_on(allocator.allocate(units, room({"core": 1})), 6) for units in (8, 12, 16)]
    assert placed == [[0, 0, 0, 0, 4, 4], [4, 0, 0, 0, 4, 4], [4, 0, 4, 0, 4, 4]]


@pytest.mark.parametrize("allocator", [Balanced(), Hybrid()])
def test_the_class_with_more_left_comes_more_often(allocator):
    """Of four GPUs one is free, of two MICs both: turns are at ½ and 1½ for MICs, at 2 for GPUs."""
    free = [[4, 1, 0], [4, 0, 0], [4, 0, 1], [4, 0, 1], [0, 0, 0], [0, 0, 0]]
    placed = [
        placed_on(allocator.allocate(units, room({"core": 1}, free)), 6) for units in (4, 8, 12)
    ]
    assert placed[:2] == [[0, 0, 4, 0, 0, 0], [0, 0, 4, 4, 0, 0]]
    assert sum(placed[2][:2]) == 4


@pytest.mark.parametrize("allocator", [Balanced(), Hybrid()])
def test_a_job_that_asks_for_what_is_scarce(allocator):
    """Nodes with nothing scarce beyond what it asks for are one class, GPU nodes included."""
    assert placed_on(allocator.allocate(3, room({"core": 1, "gpu": 1})), 6) == [2, 1, 0, 0, 0, 0]


def test_what_is_scarce_can_be_said():
    """Where only MICs are, nodes with GPUs are as good as those with neither."""
    placed = placed_on(Balanced(("mic",)).allocate(12, room({"core": 1})), 6)
    assert placed == [4, 4, 0, 0, 4, 0]


def test_balanced_takes_the_fullest_node_and_hybrid_that_of_least_weight():
    """Node 5 has three cores free of four, so it is fuller, but four units leave nothing on 4."""
    free = [[4, 2, 0], [4, 2, 0], [4, 0, 1], [4, 0, 1], [4, 0, 0], [3, 0, 0]]
    asked = room({"core": 2}, free)
    assert placed_on(Balanced().allocate(1, asked), 6) == [0, 0, 0, 0, 0, 1]
    assert placed_on(Hybrid().allocate(2, asked), 6) == [0, 0, 0, 0, 2, 0]


TABLE = """
job_id  submit_time  units  requested_time  core  gpu  mic
1       0            1      10              1     {gpu} {mic}
2       0            1      10              1     0    0
"""


@pytest.mark.parametrize(("wanted", "taken"), [("gpu", "mic"), ("mic", "gpu")])
def test_weighted_keeps_what_is_wanted(wanted, taken):
    """Job 2 goes to the nodes that have what nobody waits for, which nodes without are as good as.

    With cores alone on nodes 4 and 5 taken, it is the other accelerator's nodes that are used.
    """
    table = TABLE.format(gpu=int(wanted == "gpu"), mic=int(wanted == "mic"))
    problem = make_problem(SYSTEM, table)
    free = [[4, 2, 0], [4, 2, 0], [4, 0, 1], [4, 0, 1], [0, 0, 0], [0, 0, 0]]
    placed = placed_on(Weighted().allocate(1, room({"core": 1}, free, problem)), 6)
    assert placed.index(1) == {"gpu": 0, "mic": 2}[taken]
