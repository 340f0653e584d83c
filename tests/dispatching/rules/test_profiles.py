"""Reservations that are made late, at a given start, or taken back, on slots and on nodes."""

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.request import shape_key
from tests.builders import ALLOCATORS, Spy, Told, lists, replay
from tests.dispatching.plans import RoundPlan
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


def plan_with(problem, held):
    """Return a new plan in which these reservations are made."""
    first = problem.queue[0].request
    alike = len({shape_key(job.request) for job in problem.queue}) == 1
    alike = alike and not (first.exclusive or first.one_unit_per_node)
    places = {job.job_id: where for job, (_, where) in held if where is not None}
    plan = RoundPlan(problem, ALLOCATORS["first-fit"], places, alike=alike)
    plan.open()
    for job, where in held:
        assert plan.hold(job, where[0])
        assert plan.held(job) == where
    return plan


@tries(60)
@given(data=st.data())
def test_a_reservation_is_at_the_earliest_time_that_is_allowed(data):
    """No second between the time given and the start that is found would do."""
    for problem in problems(data):
        plan = plan_with(problem, ())
        held = []
        for job in problem.queue:
            not_before = problem.now + data.draw(st.integers(0, 6))
            start = plan.reserve(job, not_before)
            assert start >= not_before
            for time in range(not_before, start):
                assert not plan_with(problem, held).hold(job, time)
            held.append((job, plan.held(job)))
            assert plan.held(job)[0] == start


@tries(60)
@given(data=st.data())
def test_what_is_taken_back_can_be_had_again(data):
    """After all reservations are cancelled they fit again, in any order, where they were."""
    for problem in problems(data):
        plan = plan_with(problem, ())
        for job in problem.queue:
            plan.reserve(job)
        held = [(job, plan.held(job)) for job in problem.queue]
        for job in problem.queue:
            plan.cancel(job)
        fresh = plan_with(problem, ())
        assert [plan.fits(job) for job in problem.queue] == [
            fresh.fits(job) for job in problem.queue
        ]
        for job, where in data.draw(st.permutations(held)):
            assert plan.hold(job, where[0])
            assert plan.held(job) == where
