"""Availability per node and resource type, and how many units fit into it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.space import (
    NodeAllocation,
    NodeSpace,
    OvercommitError,
    room_for,
    units_that_fit,
)
from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, traced
from tests.properties.brute_force import conflicts, node_capacities
from tests.strategies import mixed_systems, mixed_workloads, tries


@tries(100)
@given(mixed_workloads(max_jobs=3))
def test_units_that_fit_on_an_idle_system(workload):
    """As many units fit on each node as can be placed there without a conflict, and no more."""
    system = workload.system
    nodes = len(node_capacities(system))
    for job, _ in workload.jobs:
        fits = units_that_fit(system, system.capacity.T, job).tolist()
        for node in range(nodes):
            for units in (fits[node], fits[node] + 1):
                placement = tuple(units if n == node else 0 for n in range(nodes))
                assert bool(conflicts(system, [(job, placement)])) == (units > fits[node])


@tries(100)
@given(data=st.data())
def test_units_that_fit_beside_others(data):
    """What is taken on a node leaves room for fewer units, and for no exclusive job.

    Of a job with one unit per node there is one at most.
    """
    system = data.draw(mixed_systems())
    rows = [[data.draw(st.integers(0, amount)) for amount in node] for node in system.capacity]
    available = np.array(rows, dtype=np.int64).T
    exclusive, one_unit_per_node = data.draw(st.booleans()), data.draw(st.booleans())
    request = tuple(data.draw(st.lists(
        st.integers(0, 3), min_size=len(system.totals), max_size=len(system.totals)
    ).filter(any)))  # fmt: skip
    job = traced(0, 0, 1, 1, request, exclusive=exclusive, one_unit_per_node=one_unit_per_node).job
    expected = []
    for row, capacity in zip(rows, system.capacity.tolist(), strict=True):
        room = min(row[r] // amount for r, amount in enumerate(request) if amount)
        room = min(room, 1) if one_unit_per_node else room
        expected.append(0 if exclusive and row != capacity else room)
    assert units_that_fit(system, available, job).tolist() == expected


def test_a_unit_must_ask_for_something():
    """A unit that asks for nothing is refused: any number of them would fit."""
    system = alike(1, core=1)
    with pytest.raises(ValueError, match="at least one resource type"):
        units_that_fit(system, system.capacity.T, traced(0, 0, 1, 1, (0,)).job)


def test_a_claim_that_does_not_fit_changes_nothing():
    """A claim on two nodes of which one is full names that node and takes nothing of the other."""
    system = alike(2, core=2)
    space = NodeSpace(system)
    job = traced(0, 0, 3, 1).job
    with pytest.raises(OvercommitError, match="3 core asked for, 2 free") as caught:
        space.claim(NodeAllocation((0, 1), (1, 3)), job)
    assert caught.value.node == 1
    assert space.available.tolist() == [[2, 2]]


def test_an_exclusive_job_takes_whole_nodes():
    """An exclusive job holds all of its node, whatever it asks for, until it is released."""
    system = alike(2, core=4, mem=8)
    space = NodeSpace(system)
    job = traced(0, 0, 1, 1, (1, 1), exclusive=True).job.request
    held = NodeAllocation((1,), (1,))
    space.claim(held, job)
    assert space.available.tolist() == [[4, 0], [8, 0]]
    space.release(held, job)
    assert space.available.tolist() == [[4, 4], [8, 8]]


def test_room_on_unlike_nodes():
    """The room for a unit request is counted node by node, not from the totals."""
    system = System(
        (NodeGroup("thin", 2, {"core": 3, "mem": 9}), NodeGroup("fat", 1, {"core": 8, "mem": 5}))
    )
    assert room_for(system, (2, 2)) == 1 + 1 + 2


def test_nodes_are_named_by_group():
    """A node's name is its group's, and its number within the group."""
    system = System((NodeGroup("thin", 2, {"core": 1}), NodeGroup("fat", 2, {"core": 4})))
    assert [system.node_name(node) for node in range(4)] == ["thin-0", "thin-1", "fat-0", "fat-1"]
