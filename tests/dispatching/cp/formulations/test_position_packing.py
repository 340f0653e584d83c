"""Positions that no job can have, by hand."""

import numpy as np

from hpcsched.dispatching.cp.formulations.position_packing import (
    Box,
    taken_positions,
    usable_nodes,
)
from hpcsched.dispatching.planning.model_data import ModelData

NUMBERS = np.array([[1]])

DATA = ModelData(
    step=1,
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
    """3 positions until 7, then 2 until 3; positions 6 and 7 of node 1 are never there."""
    assert usable_nodes(DATA, 0).tolist() == [True, True, False]
    assert taken_positions(DATA, 0, 8) == {
        0: [Box(0, 7, 0, 3), Box(0, 3, 3, 5)],
        1: [Box(0, 12, 6, 8)],
    }
