"""The aggregated dispatchers decide as naive ones do, job by job and over whole replays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ORDERS, Spy, Told, easy, lists, replay
from tests.properties import brute_force
from tests.properties.contention import contended
from tests.strategies import tries, uniform_workloads

DEPTHS = (None, 0, 1, 2, 5)


def check(dispatcher, decide, workload):
    """Compare every decision of a replay, and its start times, with the naive ones."""

    def look(problem, decision):
        queue = [
            brute_force.Waiting(job.job_id, job.submit_time, job.units, job.predicted_run_time)
            for job in problem.queue
        ]
        running = [
            brute_force.Running(job.units, job.predicted_end_time) for job in problem.running
        ]
        expected = decide(problem.now, queue, running, workload.slots)
        assert [start.job_id for start in decision.starts] == expected

    recorder = replay(
        workload.system,
        Spy(dispatcher, look),
        workload.jobs,
        predictor=Told(workload.predictions),
        uniform_request=workload.request,
    )
    expected = brute_force.replay(decide, workload.jobs, workload.predictions, workload.slots)
    assert recorder.start_times == expected
    assert brute_force.audit(workload.system, workload.jobs, recorder.jobs) == []


@pytest.mark.parametrize("one_slot_nodes", [True, False])
@pytest.mark.parametrize("predictions", ["wrong", "exact"])
def test_easy(one_slot_nodes, predictions):
    """EASY agrees with brute force."""

    @tries(40)
    @given(uniform_workloads(predictions, one_slot_nodes=one_slot_nodes))
    def agrees(workload):
        check(easy(), brute_force.easy, workload)

    agrees()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("option", ["strict", "greedy"])
@tries(12)
@given(workload=uniform_workloads())
def test_list_without_reservations(order, option, workload):
    """Strict and greedy list scheduling agree with brute force in every order."""
    decide = brute_force.list_scheduling(order, option, None)
    check(lists(order, option), decide, workload)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("predictions", ["wrong", "exact"])
@tries(25)
@given(st.data())
def test_list_with_reservations(order, predictions, data):
    """Backfilling list scheduling agrees with brute force in every order and to every depth."""
    workload = data.draw(uniform_workloads(predictions))
    depth = data.draw(st.sampled_from(DEPTHS))
    decide = brute_force.list_scheduling(order, "backfill", depth)
    check(lists(order, "backfill", depth), decide, workload)


@pytest.mark.parametrize("exact", [True, False])
def test_easy_where_much_waits(exact):
    """EASY agrees with brute force on long queues."""
    for workload in contended(seed=1, count=100, exact=exact):
        check(easy(), brute_force.easy, workload)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("order", ORDERS)
def test_list_where_much_waits(order, depth):
    """Backfilling list scheduling agrees with brute force on long queues."""
    decide = brute_force.list_scheduling(order, "backfill", depth)
    for workload in contended(seed=2, count=10):
        check(lists(order, "backfill", depth), decide, workload)
