"""Positions that no job can have, by hand."""

from dataclasses import replace

import numpy as np

from hpcsched.dispatching.cp.formulations.unit_positions import (
    Box,
    merged_boxes,
    numbered,
    taken_positions,
)
from hpcsched.dispatching.planning.model_data import ModelData

NUMBERS = np.array([[1]])

DATA = ModelData(
    units=np.array([1]),
    requests=np.array([[1]]),
    run_times=np.array([5]),
    capacity=np.array([[8], [6], [8]]),
    room=np.array([[8, 6, 0]]),
    allocated_until=np.array([3, 7, 7]),
    allocated_on=np.array([0, 0, 2]),
    allocated=np.array([[2], [3], [1]]),
    weights=NUMBERS,
    free=np.array([[0]]),
    makespan=0,
    horizon=12,
)
"""Nodes of 8, 6 and 8; of node 0, 2 are held until 3 and 3 until 7. The job cannot use node 2."""


def test_allocated_amounts_lie_with_the_latest_end_lowest() -> None:
    """3 positions until 7, then 2 until 3; positions 6 and 7 of node 1 are never there.

    Nodes are in the order 1, 2, 0: by capacity, and those that the job can use last.
    """
    numbering = numbered(DATA)
    assert numbering.order.tolist() == [1, 2, 0]
    assert numbering.first.tolist() == [[0], [6], [14], [22]]
    taken = taken_positions(DATA, 0, numbering)
    assert taken == {2: [Box(0, 7, 0, 3), Box(0, 3, 3, 5)]}
    assert merged_boxes(taken, 0, numbering) == [Box(0, 7, 14, 17), Box(0, 3, 17, 19)]


def test_neighbours_that_are_full_are_one_box() -> None:
    """Five nodes of 8, and a job of 2: until 3 a job leaves 1 of nodes 0, 2 and 4, until 7 4 of 4.

    Node 1 is full until 9, and node 3 is idle. So the order is 3, 0, 2, 4, 1.
    """
    data = replace(
        DATA,
        requests=np.array([[2]]),
        capacity=np.full((5, 1), 8),
        room=np.full((1, 5), 4),
        allocated_until=np.array([3, 3, 3, 7, 9]),
        allocated_on=np.array([0, 2, 4, 4, 1]),
        allocated=np.array([[7], [7], [3], [4], [8]]),
    )
    numbering = numbered(data)
    assert numbering.order.tolist() == [3, 0, 2, 4, 1]
    assert numbering.full_until.tolist() == [0, 3, 3, 3, 9]
    merged = merged_boxes(taken_positions(data, 0, numbering), 0, numbering)
    assert merged == [Box(0, 3, 8, 32), Box(3, 7, 24, 28), Box(0, 9, 32, 40)]
