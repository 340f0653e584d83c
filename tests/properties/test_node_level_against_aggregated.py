"""Where all jobs ask for equal units, looking at nodes and counting slots come to the same.

This is what makes the aggregated form, which is all that is checked against brute force in depth,
stand for the node-level form as well.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ALLOCATORS, ORDERS, Told, easy, lists, replay
from tests.properties import brute_force
from tests.properties.contention import contended
from tests.strategies import tries, uniform_workloads


def replay_both(dispatcher, workload):
    """Return the start times of the aggregated and of the node-level replay, both audited."""
    found = []
    for request in (workload.request, None):
        recorder = replay(
            workload.system,
            dispatcher,
            workload.jobs,
            predictor=Told(workload.predictions),
            uniform_request=request,
        )
        assert brute_force.audit(workload.system, workload.jobs, recorder.jobs) == []
        found.append(recorder.start_times)
    return found


@pytest.mark.parametrize("allocator", ALLOCATORS)
@tries(25)
@given(workload=uniform_workloads())
def test_easy(allocator, workload):
    """EASY starts the same jobs at the same times."""
    aggregated, node_level = replay_both(easy(allocator), workload)
    assert aggregated == node_level


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("order", ORDERS)
@tries(8)
@given(data=st.data())
def test_backfilling_lists(order, allocator, data):
    """Backfilling lists start the same jobs at the same times, to every depth."""
    workload = data.draw(uniform_workloads())
    depth = data.draw(st.sampled_from([None, 0, 1, 2, 5]))
    aggregated, node_level = replay_both(lists(order, "backfill", depth, allocator), workload)
    assert aggregated == node_level


@pytest.mark.parametrize("option", ["strict", "greedy"])
@tries(20)
@given(data=st.data())
def test_lists_without_reservations(option, data):
    """Strict and greedy lists start the same jobs at the same times."""
    workload = data.draw(uniform_workloads())
    order = data.draw(st.sampled_from(sorted(ORDERS)))
    allocator = data.draw(st.sampled_from(sorted(ALLOCATORS)))
    aggregated, node_level = replay_both(lists(order, option, None, allocator), workload)
    assert aggregated == node_level


@pytest.mark.parametrize("aggregated", [True, False])
@tries(30)
@given(workload=uniform_workloads())
def test_easy_is_a_list_with_one_reservation(aggregated, workload):
    """EASY and first-come list scheduling to depth 1 start the same jobs at the same times."""
    start_times = [
        replay(
            workload.system,
            dispatcher,
            workload.jobs,
            predictor=Told(workload.predictions),
            uniform_request=workload.request if aggregated else None,
        ).start_times
        for dispatcher in (easy(), lists("fcfs", "backfill", 1))
    ]
    assert start_times[0] == start_times[1]


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_easy_where_much_waits(allocator):
    """EASY starts the same jobs at the same times on long queues."""
    for workload in contended(seed=3, count=15):
        aggregated, node_level = replay_both(easy(allocator), workload)
        assert aggregated == node_level


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("order", ORDERS)
def test_backfilling_lists_where_much_waits(order, allocator):
    """Backfilling lists start the same jobs at the same times on long queues."""
    for workload in contended(seed=4, count=5):
        aggregated, node_level = replay_both(lists(order, allocator=allocator), workload)
        assert aggregated == node_level
