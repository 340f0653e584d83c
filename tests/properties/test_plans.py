"""Conservative backfilling in order of arrival keeps the plans that it makes.

With exact predictions the jobs that run end as planned, each job's earliest start beside those
before it stays what it was, and new jobs come last; so every round plans the same again. (This is
said of equal unit requests: where requests differ, plans bind no nodes.)
"""

import pytest
from hypothesis import given

from tests.builders import ALLOCATORS, Spy, lists, replay
from tests.properties import brute_force
from tests.properties.contention import contended
from tests.strategies import tries, uniform_workloads


def check(workload, allocator, aggregated):
    """Compare the start times of a replay with what a naive planner said at each submission."""
    first_planned = {}

    def look(problem, _):
        queue = [
            brute_force.Waiting(job.job_id, job.submit_time, job.units, job.predicted_run_time)
            for job in problem.queue
        ]
        running = [
            brute_force.Running(job.units, job.predicted_end_time) for job in problem.running
        ]
        planned = brute_force.plan(problem.now, queue, running, workload.slots)
        for job_id, start in planned.items():
            first_planned.setdefault(job_id, start)

    recorder = replay(
        workload.system,
        Spy(lists(allocator=allocator), look),
        workload.jobs,
        uniform_request=workload.request if aggregated else None,
    )
    assert recorder.start_times == first_planned


@pytest.mark.parametrize("aggregated", [True, False])
@pytest.mark.parametrize("allocator", ALLOCATORS)
@tries(25)
@given(workload=uniform_workloads("exact", shortest=1))
def test_a_job_starts_when_first_planned(allocator, aggregated, workload):
    """Every job starts when it was to start by the plan of the round of its submission."""
    check(workload, allocator, aggregated)


@pytest.mark.parametrize("aggregated", [True, False])
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_a_job_starts_when_first_planned_where_much_waits(allocator, aggregated):
    """The same on long queues."""
    for workload in contended(seed=2, count=30, jobs=20, exact=True):
        check(workload, allocator, aggregated)
