"""Plans on nodes: what they say is free, and where they find room."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.planning.counted_units import counted_units
from hpcsched.dispatching.planning.releases import releases_of
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.allocators import FirstFit, KeepScarce
from hpcsched.system.allocation import SlotAllocation, SlotMap
from hpcsched.system.request import Request
from hpcsched.system.space import allocated_amounts
from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, traced
from tests.dispatching.plans import (
    Action,
    Round,
    RoundPlan,
    Seconds,
    busy_rounds,
    idle_problem,
    rounds,
    seconds_of,
    waiting,
)
from tests.strategies import tries


def check_step(
    action: Action, job: WaitingJob, plan: RoundPlan, seconds: Seconds, given: Round
) -> None:
    """Ask a plan for something, and check what it says and what is free afterwards."""
    fits = seconds.fits(job)
    assert plan.fits(job) is fits
    if action == "start":
        expected = (
            seconds.choice(job, seconds.now, given.allocator, given.problem) if fits else None
        )
        allocation = plan.start_now(job)
        assert allocation == expected
        if allocation is not None:
            end = seconds.now + job.predicted_run_time
            seconds.take(job.request, allocation, seconds.now, end)
    elif action == "reserve":
        start = seconds.earliest(job)
        assert start is not None
        assert plan.earliest(job) == start
        assert plan.reserve(job) == start
        allocated = (seconds.free - seconds_of(plan, seconds))[start - seconds.now]
        allocation = seconds.allocation_of(job, start, allocated)
        assert allocation.nodes == seconds.choice(job, start, KeepScarce()).nodes
        seconds.take(job.request, allocation, start, start + job.predicted_run_time)
    assert np.array_equal(seconds_of(plan, seconds), seconds.free)


@tries(200)
@given(given_round=rounds(), data=st.data())
def test_a_plan_against_one_second_by_second(given_round: Round, data: st.DataObject) -> None:
    """A plan finds room where, and only where, a naive plan finds it, and takes it from there.

    It says that a job fits exactly if each unit has room on one node from now to the predicted end,
    and starts it exactly then, where the allocator puts it. Reservations begin in the first second
    from which on the units have room, and are where `KeepScarce` puts them. After each step exactly
    one allocation of the job is taken, for its predicted run time.
    """
    plan, seconds = given_round.open_plan()
    assert np.array_equal(seconds_of(plan, seconds), seconds.free)
    for action, job in given_round.steps:
        check_step(action, job, plan, seconds, given_round)
    begin = data.draw(st.integers(seconds.now, seconds.now + len(seconds.free) - 1))
    end = data.draw(st.integers(begin + 1, seconds.now + len(seconds.free)))
    lowest = seconds_of(plan, seconds)[begin - seconds.now : end - seconds.now].min(axis=0).T
    assert np.array_equal(lowest, seconds.lowest(begin, end))


def test_a_plan_against_one_second_by_second_where_much_is_planned() -> None:
    """The same where rounds are larger."""
    for given_round in busy_rounds(seed=1, count=100):
        plan, seconds = given_round.open_plan()
        for action, job in given_round.steps:
            check_step(action, job, plan, seconds, given_round)


@tries(100)
@given(given_round=rounds())
def test_starts_take_room_that_is_free_now(given_round: Round) -> None:
    """What is free now is less what starts took, and not what is reserved."""
    plan, _ = given_round.open_plan()
    available, rows = plan.filled.tables.available, plan.filled.started
    for action, job in given_round.steps:
        free, started = available.copy(), [plan.queue[row].job_id for row, _ in rows()]
        allocation = None
        if action == "start":
            allocation = plan.start_now(job)
        elif action == "reserve":
            plan.reserve(job)
        if allocation is not None:
            nodes, amounts = allocated_amounts(given_round.problem.system, allocation, job.request)
            free[:, nodes] -= amounts
            started.append(job.job_id)
        assert np.array_equal(available, free)
        assert [plan.queue[row].job_id for row, _ in rows()] == started


def units_at(seconds: Seconds, request: Request, time: int) -> int:
    """Return how many units of a request the system can hold in a second."""
    return sum(seconds.units_during(request, time, time + 1))


def impossible(job: WaitingJob, system: System, fault: str) -> WaitingJob:
    """Return a job like another, but for one fault because of which it never fits."""
    seconds = Seconds(system, 0, 0)
    asked = job.request
    match fault:
        case "units":
            asked = asked._replace(units=units_at(seconds, asked, 0) + 1)
        case "request":
            most = np.array(seconds.capacity).max(axis=0)
            larger = [int(amount) + 1 if k == 0 else 0 for k, amount in enumerate(most)]
            asked = asked._replace(unit_request=tuple(larger), units=1)
        case _:
            asked = asked._replace(node_groups=frozenset())
    return job._replace(request=asked, units=asked.units, unit_request=asked.unit_request)


@tries(50)
@given(
    given_round=rounds(6).filter(lambda drawn: len(drawn.steps) > 0),
    fault=st.sampled_from(["units", "request", "groups"]),
)
def test_a_job_that_never_fits(given_round: Round, fault: str) -> None:
    """For a job that does not fit on the idle system there is no reservation, and nothing is taken.

    Neither does it fit now, or start.
    """
    problem = given_round.problem
    made = [
        impossible(job, problem.system, fault)._replace(job_id=1000 + job.job_id)
        for _, job in given_round.steps
    ]
    problem = problem._replace(queue=(*problem.queue, *made))
    plan, seconds = given_round._replace(problem=problem).open_plan()
    for job, (_, fitting) in zip(made, given_round.steps, strict=True):
        assert seconds.earliest(job) is None
        assert not plan.fits(job)
        assert plan.start_now(job) is None
        assert plan.reserve(job) == NEVER
        assert np.array_equal(seconds_of(plan, seconds), seconds.free)
        plan.reserve(fitting)
        seconds.free = seconds_of(plan, seconds)


@tries(100)
@given(given_round=rounds(), data=st.data())
def test_counted_units_against_seconds(given_round: Round, data: st.DataObject) -> None:
    """How many units of a job fit now, after each end, and in the end is as in a naive plan."""
    problem, seconds = given_round.problem, given_round.in_seconds()
    jobs = [*problem.queue, *(job.waiting for job in problem.running)]
    countable = [
        job for job in jobs if not (job.request.exclusive or job.request.one_unit_per_node)
    ]
    assume(countable)
    job = data.draw(st.sampled_from(countable))
    counted = counted_units(problem._replace(queue=(job,)), overdue=True)
    assert counted.free == units_at(seconds, job.request, seconds.now)
    for t in range(len(seconds.free)):
        more = sum(units for at, units in counted.allocated if at <= t)
        assert counted.free + more == units_at(seconds, job.request, seconds.now + t)
    assert counted.total == units_at(seconds, job.request, seconds.now + len(seconds.free) - 1)
    assert counted.remaining == sum(job.predicted_end_time - problem.now for job in problem.running)


def test_releases_of_slots() -> None:
    """Slots 1 to 3, of two on each node, are 1 unit on node 0 and 2 on node 1."""
    system = alike(3, core=4)
    job = traced(1, 0, 3, 1, (2,)).job.request
    allocation = SlotAllocation(((1, 4),), SlotMap(np.array([2, 2, 2])))
    times, nodes, amounts = releases_of(system, [(7, allocation, job)])
    assert times.tolist() == [7, 7]
    assert nodes.tolist() == [0, 1]
    assert amounts.tolist() == [[2], [4]]


def reservations(system: System, jobs: list[WaitingJob]) -> Round:
    """Return a round in which all jobs get reservations, in turn."""
    problem = idle_problem(system, tuple(jobs), now=5)
    return Round(problem, FirstFit(), (), tuple(("reserve", job) for job in jobs))


def long_queue() -> Round:
    """Return a round with reservations for many unlike jobs on three nodes."""
    system = System(
        (NodeGroup("a", 2, {"core": 4, "mem": 3}), NodeGroup("b", 1, {"core": 3, "gpu": 1}))
    )
    draws = random.Random(1)
    requests = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1)]
    jobs = []
    for number in range(60):
        request = draws.choice(requests)
        units = 1 if request[2] else draws.randint(1, 2)
        exclusive = draws.random() < 0.2
        job = traced(number, 0, units, draws.randint(1, 6), request, exclusive=exclusive)
        jobs.append(waiting(system, job))
    return reservations(system, jobs)


def wide_jobs() -> Round:
    """Return a round with reservations that take all of many nodes at once."""
    system = alike(30, core=2)
    jobs = [traced(number, 0, units, 2) for number, units in enumerate([30, 59, 60, 1, 31, 60])]
    return reservations(system, [waiting(system, job) for job in jobs])


@pytest.mark.parametrize("drawn", [long_queue, wide_jobs])
def test_a_plan_outgrows_its_arrays(drawn: Callable[[], Round]) -> None:
    """Plans of many more segments than there is room for at first stay right."""
    given_round = drawn()
    plan, seconds = given_round.open_plan()
    size = len(plan.segments[1])
    for action, job in given_round.steps:
        check_step(action, job, plan, seconds, given_round)
    assert len(plan.segments[1]) > 1.5 * size
