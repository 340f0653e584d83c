"""EASY keeps its promise to the head job, by exhaustive search on tiny systems.

So does list scheduling in order of arrival, whose first reservation is the same.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ALLOCATORS, Spy, Told, easy, lists, replay
from tests.properties import brute_force
from tests.properties.test_mixed_requests import placed_by, placed_now
from tests.strategies import mixed_workloads, tries

DISPATCHERS = {
    "easy": easy,
    "list": lambda allocator: lists(allocator=allocator),
    "list to depth 1": lambda allocator: lists(depth=1, allocator=allocator),
}


class Round:
    """What a decision means for the head job, the first to arrive of those left waiting."""

    def __init__(self, problem, decision):
        self.now = problem.now
        self.system = problem.system
        predicted = {job.job_id: job.predicted_run_time for job in problem.queue}
        started = [start.job_id for start in decision.starts]
        waiting = [job for job in problem.queue if job.job_id not in started]
        self.head = waiting[0].job if waiting else None
        self.behind = waiting[1:]
        ends = [job.predicted_end_time for job in problem.running]
        running = list(zip(ends, placed_now(problem), strict=True))
        new = [
            (self.now + predicted[placed[0].job_id], placed)
            for placed in placed_by(problem, decision)
        ]
        ahead = 0
        if self.head is not None:
            ahead = next(k for k, job in enumerate(problem.queue) if job.job is self.head)
        self.without_backfill = running + new[:ahead]
        self.with_backfill = running + new

    def fits(self, job, runs, instant):
        """Say whether a job can be placed beside what runs at an instant."""
        placed = [placed for end, placed in runs if end > instant]
        return brute_force.can_be_placed(self.system, job, placed)

    @property
    def shadow_time(self):
        """The earliest instant at which the head job fits if nothing else starts."""
        instants = sorted({self.now, *(end for end, _ in self.without_backfill)})
        return next(t for t in instants if self.fits(self.head, self.without_backfill, t))


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("dispatcher", DISPATCHERS)
@tries(20)
@given(workload=mixed_workloads(tiny=True))
def test_the_head_job_is_not_delayed(dispatcher, allocator, workload):
    """After a decision the head job still fits at the shadow time that it had before."""

    def look(problem, decision):
        after = Round(problem, decision)
        if after.head is not None:
            assert after.shadow_time > after.now
            assert after.fits(after.head, after.with_backfill, after.shadow_time)

    replay(
        workload.system,
        Spy(DISPATCHERS[dispatcher](allocator), look),
        workload.jobs,
        predictor=Told(workload.predictions),
    )


@pytest.mark.parametrize("allocator", ALLOCATORS)
@tries(40)
@given(workload=mixed_workloads(tiny=True))
def test_what_ends_by_the_shadow_time_is_started(allocator, workload):
    """A job that still fits after a decision would run past the head job's shadow time."""

    def look(problem, decision):
        after = Round(problem, decision)
        for waiting in after.behind:
            if after.fits(waiting.job, after.with_backfill, after.now):
                assert after.now + waiting.predicted_run_time > after.shadow_time

    replay(
        workload.system,
        Spy(easy(allocator), look),
        workload.jobs,
        predictor=Told(workload.predictions),
    )


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("predictions", ["exact", "over"])
@pytest.mark.parametrize("dispatcher", DISPATCHERS)
@tries(10)
@given(data=st.data())
def test_the_head_job_starts_by_its_first_shadow_time(dispatcher, predictions, allocator, data):
    """Where no job outlives its prediction, a head job starts no later than first foreseen."""
    workload = data.draw(mixed_workloads(predictions, tiny=True))
    foreseen = {}

    def look(problem, decision):
        after = Round(problem, decision)
        if after.head is not None:
            foreseen.setdefault(after.head.job_id, after.shadow_time)

    recorder = replay(
        workload.system,
        Spy(DISPATCHERS[dispatcher](allocator), look),
        workload.jobs,
        predictor=Told(workload.predictions),
    )
    for job_id, shadow_time in foreseen.items():
        assert recorder.start_times[job_id] <= shadow_time
