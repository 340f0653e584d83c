"""Reservations that are made late, at a given start, or taken back, on slots and on nodes."""

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.workspace import open_workspace
from tests.builders import ALLOCATORS, Spy, Told, lists, replay
from tests.strategies import mixed_workloads, tries, uniform_workloads


def problems(data):
    """Return the dispatching problems of a drawn replay."""
    found = []
    if data.draw(st.booleans()):
        workload, request = data.draw(mixed_workloads()), None
    else:
        workload = data.draw(uniform_workloads())
        request = data.draw(st.sampled_from([workload.request, None]))
    dispatcher = Spy(lists("fcfs", "strict"), lambda problem, _: found.append(problem))
    replay(
        workload.system,
        dispatcher,
        workload.jobs,
        predictor=Told(workload.predictions),
        uniform_request=request,
    )
    return found


def profile_with(problem, held):
    """Return a new profile in which these reservations are made."""
    profile = open_workspace(problem, ALLOCATORS["first_fit"]).profile()
    for job, where in held:
        assert profile.hold(job, where)
        assert profile.held(job) == where
    return profile


@tries(60)
@given(data=st.data())
def test_a_reservation_is_at_the_earliest_time_that_is_allowed(data):
    """No second between the time given and the start that is found would do."""
    for problem in problems(data):
        profile = profile_with(problem, ())
        held = []
        for job in problem.queue:
            not_before = problem.now + data.draw(st.integers(0, 6))
            start = profile.reserve(job, not_before)
            assert start >= not_before
            for time in range(not_before, start):
                assert not profile_with(problem, held).hold(job, Held(time))
            held.append((job, profile.held(job)))
            assert profile.held(job).start == start


@tries(60)
@given(data=st.data())
def test_what_is_taken_back_can_be_had_again(data):
    """After all reservations are cancelled they fit again, in any order, where they were."""
    for problem in problems(data):
        profile = profile_with(problem, ())
        for job in problem.queue:
            profile.reserve(job)
        held = [(job, profile.cancel(job)) for job in problem.queue]
        fresh = profile_with(problem, ())
        assert [profile.fits(job) for job in problem.queue] == [
            fresh.fits(job) for job in problem.queue
        ]
        for job, where in data.draw(st.permutations(held)):
            assert profile.hold(job, where)
            assert profile.held(job) == where


@tries(60)
@given(data=st.data())
def test_the_first_conflict_is_the_first_that_matters(data):
    """Beside the reservations before it a job can start now, and not beside this one too."""
    for problem in problems(data):
        *others, job = problem.queue
        profile = profile_with(problem, ())
        for other in others:
            profile.reserve(other)
        held = [(other, profile.held(other)) for other in others]
        name = profile.first_conflict(job)
        fits = [profile_with(problem, held[:k]).fits(job) for k in range(len(held) + 1)]
        if fits[0]:
            first = next((k for k, fit in enumerate(fits) if not fit), None)
            assert name == (None if first is None else others[first - 1].job_id)
