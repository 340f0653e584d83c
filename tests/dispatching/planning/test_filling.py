"""Jobs beyond the plan start now where that delays no planned job, by hand and on samples."""

from dataclasses import replace
from typing import Any

import pytest

from hpcsched.dispatching.cp.solving import Answer
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.planning.dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.list_plans import ListPlanner
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system, sample_workloads
from tests.builders import ORDERS
from tests.dispatching.cp.making import Scripted, cp_dispatcher
from tests.dispatching.cp.test_improver import check_replay

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


@pytest.mark.parametrize("pooled", [False, True])
def test_three_small_jobs_beyond_the_window(pooled: bool) -> None:
    """Job 1 is to start at 100 s on all 8 cores. Jobs 2 and 3 end by then, job 4 at 101 s."""
    problem = make_problem(make_system(8, core=1), IDLE, pooled=pooled)
    assert started(first_only().dispatch(problem)) == [2, 3]
    assert started(replace(first_only(), fill=False).dispatch(problem)) == []


@pytest.mark.parametrize("pooled", [False, True])
def test_the_rest_of_what_fits(pooled: bool) -> None:
    """Of jobs that fit now one is planned, job 2; nobody waits for room, so 3 and 4 start too."""
    problem = make_problem(make_system(8, core=1), IDLE, pooled=pooled)
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
        for pooled in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if pooled else None
            solver = Scripted(Answer("unknown"))
            dispatcher = cp_dispatcher(solver=solver, length=2, jobs=jobs)
            check_replay(dispatcher, sample.system, sample.jobs, uniform_request=request)
