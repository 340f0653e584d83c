"""What holds of every dispatcher on unlike nodes, with node groups and exclusive jobs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ALLOCATORS, ORDERS, Spy, Told, easy, lists, replay
from tests.properties import brute_force
from tests.strategies import mixed_workloads, tries

OPTIONS = (("strict", None), ("greedy", None), *(("backfill", depth) for depth in (None, 0, 1, 2)))


def placed_now(problem):
    """Return the running jobs of a problem with their places."""
    return [
        (running.waiting.job, brute_force.placement_of(problem.system, running.allocation))
        for running in problem.running
    ]


def placed_by(problem, decision):
    """Return the jobs that a decision starts with their places."""
    jobs = {waiting.job_id: waiting.job for waiting in problem.queue}
    return [
        (jobs[start.job_id], brute_force.placement_of(problem.system, start.allocation))
        for start in decision.starts
    ]


def left_waiting(order, problem, decision):
    """Return the jobs that a decision leaves in the queue, in a queue order."""
    started = {start.job_id for start in decision.starts}
    waiting = [
        brute_force.Waiting(
            w.job_id, w.submit_time, problem.system.demand(w.units, w.unit_request),
            w.predicted_run_time,
        )
        for w in problem.queue
    ]  # fmt: skip
    jobs = {w.job_id: w.job for w in problem.queue}
    ordered = sorted(waiting, key=brute_force.SORT_KEYS[order])
    return [jobs[w.job_id] for w in ordered if w.job_id not in started]


def check(dispatcher, workload, look=None):
    """Replay a workload, looking at each decision, and audit it."""
    recorder = replay(
        workload.system,
        Spy(dispatcher, look) if look else dispatcher,
        workload.jobs,
        predictor=Told(workload.predictions),
    )
    assert brute_force.audit(workload.system, workload.jobs, recorder.jobs) == []


@pytest.mark.parametrize("allocator", ALLOCATORS)
@tries(40)
@given(workload=mixed_workloads())
def test_easy_passes_the_audit(allocator, workload):
    """A replay with EASY overcommits nothing and places every unit where it may be."""
    check(easy(allocator), workload)


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("order", ORDERS)
@tries(12)
@given(data=st.data())
def test_lists_pass_the_audit(order, allocator, data):
    """A replay with a list overcommits nothing and places every unit where it may be."""
    workload = data.draw(mixed_workloads())
    option, depth = data.draw(st.sampled_from(OPTIONS))
    check(lists(order, option, depth, allocator), workload)


@pytest.mark.parametrize("option", ["strict", "greedy", "backfill"])
@tries(30)
@given(data=st.data())
def test_a_job_waits_for_room_alone(option, data):
    """A round leaves no job that fits: the first in order, or with the greedy option any."""
    workload = data.draw(mixed_workloads(tiny=True))
    order = data.draw(st.sampled_from(sorted(ORDERS)))

    def look(problem, decision):
        placed = placed_now(problem) + placed_by(problem, decision)
        left = left_waiting(order, problem, decision)
        for job in left if option == "greedy" else left[:1]:
            assert not brute_force.can_be_placed(problem.system, job, placed)

    check(lists(order, option), workload, look)
