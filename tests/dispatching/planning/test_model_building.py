"""Amounts and times of a model by hand."""

from dataclasses import replace
from typing import Any

import numpy as np

from hpcsched.dispatching.planned_cost import linear
from hpcsched.dispatching.planning.model_building import (
    reserved_amounts,
    scaled,
    with_whole_nodes,
)
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.node_choice import Releases
from hpcsched.dispatching.planning.selection import Selection


def model(**changes: Any) -> ModelData:
    """Return two jobs, of one unit of 4 and one of 6, on a node of 13 and one of 8."""
    none, of_jobs = np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    made = ModelData(
        units=np.array([1, 1]),
        requests=np.array([[4], [6]]),
        run_times=np.array([1, 1]),
        capacity=np.array([[13], [8]]),
        room=np.array([[3, 2], [2, 1]]),
        allocated_until=none,
        allocated_on=none,
        allocated=np.empty((0, 1), dtype=np.int64),
        weights=of_jobs,
        free=of_jobs,
        makespan=0,
        horizon=0,
    )
    return replace(made, **changes)


def in_whole_nodes(units: list[int]) -> Selection:
    """Return the selection of the jobs with these units, the first of them exclusive."""
    jobs: Any = ("first", "second")
    data = model(units=np.array(units))
    selection = Selection(data, jobs, np.arange(2), (0, 0), linear([0.0, 0.0]), 1 << 40)
    return with_whole_nodes(selection, np.array([True, False]))


def test_equal_ends_on_a_node_are_merged() -> None:
    """Node 2 of the system is left out; nodes 1 and 3 are the model's nodes 0 and 1."""
    releases = Releases(
        np.array([110, 110, 110, 125, 130]),
        np.array([3, 3, 2, 1, 1]),
        np.array([[1, 9], [2, 9], [5, 9], [4, 9], [0, 9]]),
    )
    until, on, amounts = reserved_amounts(np.array([1, 3]), np.array([0]), releases, 100, ())
    assert (until.tolist(), on.tolist(), amounts.tolist()) == ([10, 25], [1, 0], [[3], [4]])


def test_amounts_are_divided_by_what_all_requests_share() -> None:
    """4 and 6 become 2 and 3, capacities of 13 and 8 become 6 and 4.

    Of node 0, 5 are held until 3 and 2 until 7: free are 6, 11 and 13, in twos 3, 5 and 6. So 2 are
    held until 3 and 1 until 7.
    """
    until, on, allocated = np.array([3, 7]), np.array([0, 0]), np.array([[5], [2]])
    made = scaled(model(allocated_until=until, allocated_on=on, allocated=allocated))
    assert (made.requests.tolist(), made.capacity.tolist()) == ([[2], [3]], [[6], [4]])
    assert (made.allocated_until.tolist(), made.allocated_on.tolist()) == ([3, 7], [0, 0])
    assert made.allocated.tolist() == [[2], [1]]


def test_whole_nodes_take_all_shares() -> None:
    """Nodes have 13 shares, as the larger one has 13 of the only type; a shared unit takes one.

    The first job is exclusive: 4 units, and 2 fit on either node (3 on one only), so that it takes
    2 nodes with 2 units each.
    """
    made = in_whole_nodes([4, 1])
    assert made.data.requests.tolist() == [[4, 13], [6, 1]]
    assert made.data.capacity.tolist() == [[13, 13], [8, 13]]
    assert (made.data.units.tolist(), made.bundles) == ([2, 1], (2, 0))
    assert made.data.room.tolist() == [[1, 1], [2, 1]]


def test_an_exclusive_job_that_no_bundle_suits_is_left_out() -> None:
    """5 units need bundles of 3 and 2, which are not equal: 2 on 2 nodes are 4, 3 on one are 3."""
    made = in_whole_nodes([5, 1])
    assert made.jobs == ("second",)
    assert made.data.units.tolist() == [1]
