"""Nodes that can be short, by hand."""

from dataclasses import replace

import numpy as np

from hpcsched.dispatching.cp.formulations.pcp19 import (
    Place,
    by_room,
    most_units,
    scarce_places,
)
from hpcsched.dispatching.planning.model_data import ModelData

DATA = ModelData(
    units=np.array([2, 1]),
    requests=np.array([[2], [3]]),
    run_times=np.array([5, 5]),
    capacity=np.array([[6], [8]]),
    room=np.array([[3, 4], [2, 2]]),
    allocated_until=np.array([4]),
    allocated_on=np.array([1]),
    allocated=np.array([[1]]),
    weights=np.array([[1, 1]]),
    free=np.array([[0, 0]]),
    makespan=0,
    horizon=14,
)
"""Jobs of 2 units of 2, and one unit of 3: they ask for 7 at most on a node of 6 and one of 8."""


def test_only_a_node_with_less_than_can_be_asked_for_is_scarce() -> None:
    """Node 0: 7 of 6. Node 1: 7 and 1 held of 8, which is enough; with 2 held it is not."""
    assert list(scarce_places(DATA)) == [Place(0, 0, 6, (0, 1), ())]
    more = replace(DATA, allocated=np.array([[2]]))
    assert list(scarce_places(more)) == [
        Place(0, 0, 6, (0, 1), ()),
        Place(1, 0, 8, (0, 1), ((0, 4, 2),)),
    ]


def test_units_are_no_more_than_the_job_has() -> None:
    """Node 1 has room for 4 units of the first job, which has 2."""
    assert most_units(DATA).tolist() == [[2, 2], [1, 1]]


def test_nodes_by_room() -> None:
    """Least room first, then by number; a node without room is left out."""
    assert by_room(np.array([3, 0, 1, 3])) == [2, 0, 3]
