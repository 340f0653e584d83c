"""Jobs beyond the plan start now where that delays no planned job, by hand and on samples."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hpcsched._core import Rule
from hpcsched.dispatching.cp.solver_process import Answer
from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.allocators import KeepScarce
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System, shape_key
from hpcsched.testing import make_problem, make_system, sample_workloads
from tests.builders import ORDERS
from tests.dispatching.cp.making import Scripted, cp_dispatcher
from tests.dispatching.cp.test_cp_improver import check_replay
from tests.dispatching.plans import Round, Seconds, rounds
from tests.strategies import tries

IDLE = """
job_id  submit_time  units  requested_time  start_time
9       0            4      100             0
1       0            8      100             -
2       0            1      50              -
3       0            1      100             -
4       0            1      101             -
"""
"""8 cores, 4 of them idle for 100 s; one job is planned, three one-core jobs wait beyond."""


def first_only(**more: Any) -> PlanningDispatcher:
    """Return a dispatcher that plans one job, the first by arrival, by list scheduling."""
    solver = Scripted(Answer("unknown"))
    return cp_dispatcher(solver=solver, length=1, priority=ORDERS["fcfs"], **more)


def started(decision: Decision) -> list[int]:
    """Return the jobs that start."""
    return [start.job_id for start in decision.starts]


@pytest.mark.parametrize("aggregated", [False, True])
def test_three_small_jobs_beyond_the_window(aggregated: bool) -> None:
    """Job 1 is to start at 100 s on all 8 cores. Jobs 2 and 3 end by then, job 4 at 101 s."""
    problem = make_problem(make_system(8, core=1), IDLE, aggregated=aggregated)
    assert started(first_only().dispatch(problem)) == [2, 3]
    assert started(replace(first_only(), fill=False).dispatch(problem)) == []


@pytest.mark.parametrize("aggregated", [False, True])
def test_the_rest_of_what_fits(aggregated: bool) -> None:
    """Of jobs that fit now one is planned, job 2; nobody waits for room, so 3 and 4 start too."""
    problem = make_problem(make_system(8, core=1), IDLE, aggregated=aggregated)
    decision = first_only(jobs="fitting").dispatch(problem)
    assert started(decision) == [2, 3, 4]
    assert len({start.allocation for start in decision.starts}) == 3


def test_reasons() -> None:
    """Jobs 2 and 3 pass job 1; job 4 is left out, though there is room for it."""
    problem = make_problem(make_system(8, core=1), IDLE)._replace(explain=True)
    reasons = {reason.job_id: reason for reason in first_only().dispatch(problem).reasons}
    assert [(reasons[i].kind, reasons[i].job) for i in (2, 3)] == [("backfilled", 1)] * 2
    assert (reasons[1].kind, reasons[1].time) == ("no_room", 100)
    assert reasons[4].kind == "not_planned"


UNLIKE = """
job_id  submit_time  units  core  gpu  requested_time  start_time
9       0            1      4     0    100             0
1       0            1      4     1    100             -
2       0            1      1     0    200             -
3       0            1      1     1    200             -
"""


def test_on_nodes() -> None:
    """Job 1 is planned at 100 s on node 0, the only one with a GPU; job 9 has its cores until then.

    Job 2 takes a core of node 1 for as long as it likes. Job 3 needs the GPU past 100 s, and waits
    (nor has node 0 a core for it).
    """
    system = System((NodeGroup("a", 1, {"core": 4, "gpu": 1}), NodeGroup("b", 1, {"core": 4})))
    problem = make_problem(system, UNLIKE)
    decision = first_only().dispatch(problem)
    assert started(decision) == [2]
    assert decision.starts[0].allocation.nodes == (1,)


def test_nothing_runs_and_the_plan_starts_nothing() -> None:
    """The first job by priority starts alone: small jobs do not keep it waiting for ever."""
    table = "job_id units requested_time\n1 8 100\n2 1 50\n3 1 50"
    problem = make_problem(make_system(8, core=1), table)
    late = cp_dispatcher(
        solver=Scripted(_late), length=1, orders=(), decode="prb", priority=ORDERS["fcfs"]
    )
    assert started(late.dispatch(problem)) == [1]


def _late(task: Any) -> Answer:
    plan = ListPlanner(task.data).plan(range(task.data.job_count))
    return Answer("feasible", plan._replace(starts=plan.starts + 1), 1, 0)


@pytest.mark.parametrize("jobs", ["all", "fitting"])
def test_replays(jobs: Any) -> None:
    """Every job runs once, where there is room, on unlike nodes and with all kinds of requests."""
    for sample in sample_workloads(seed=11, count=20):
        for aggregated in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if aggregated else None
            solver = Scripted(Answer("unknown"))
            dispatcher = cp_dispatcher(solver=solver, length=2, jobs=jobs)
            check_replay(dispatcher, sample.system, sample.jobs, uniform_request=request)


def reserved(seconds: Seconds, job: WaitingJob, start: int, where: NodeAllocation | None) -> None:
    """Reserve room for a job from a time on, where it is said or elsewhere; or else later."""
    run_time = job.predicted_run_time
    fits = seconds.units_during(job.request, start, start + run_time)
    if sum(fits) < job.units:
        later = seconds.earliest(job, start)
        assert later is not None
        start, where = later, None
    elif where is not None and any(
        units > fits[node] for node, units in zip(where.nodes, where.units, strict=True)
    ):
        where = None
    where = where or seconds.choice(job, start, KeepScarce())
    seconds.take(job.request, where, start, start + run_time)


@tries(150)
@given(given_round=rounds(), data=st.data())
def test_against_a_plan_second_by_second(given_round: Round, data: st.DataObject) -> None:
    """What starts beside a plan has room until its end, where the allocator puts it; no other.

    The plan has some jobs start now, and some later at any times, on nodes that may be taken then.
    """
    problem, seconds = given_round.problem, given_round.in_seconds()
    assume(len({shape_key(job.request) for job in problem.queue}) > 1)
    starts, planned, beyond = [], [], []
    for job in given_round.placed:
        if seconds.fits(job):
            where = seconds.choice(job, problem.now, given_round.allocator)
            end = problem.now + job.predicted_run_time
            seconds.take(job.request, where, problem.now, end)
            starts.append(Start(job.job_id, where))
    now = [job for job in problem.queue if job.job_id in {start.job_id for start in starts}]
    for job in problem.queue:
        if job in now:
            continue
        if data.draw(st.booleans()):
            planned.append((problem.now + data.draw(st.integers(0, 9)), job))
        else:
            beyond.append(job)
    planned.sort(key=lambda each: each[0])
    places = {start.job_id: start.allocation for start in starts}
    idle = Seconds(problem.system, problem.now, len(seconds.free))
    for start, job in planned:
        where = None
        if data.draw(st.booleans()):
            where = places[job.job_id] = idle.choice(job, start, given_round.allocator)
        reserved(seconds, job, start, where)
    expected = []
    for job in beyond:
        if seconds.fits(job):
            where = seconds.choice(job, problem.now, given_round.allocator, problem)
            end = problem.now + job.predicted_run_time
            seconds.take(job.request, where, problem.now, end)
            expected.append(Start(job.job_id, where))

    order = [*now, *(job for _, job in planned), *beyond]
    filled = ProblemState(Rule.BESIDE_PLAN, given_round.allocator)
    filled.fill(problem, order)
    times = {job.job_id: start for start, job in planned}
    filled.set_reservations(times, places)
    filled.state.start_beside_plan(filled.asked, len(now), len(now) + len(planned))
    assert filled.starts() == (*starts, *expected)
