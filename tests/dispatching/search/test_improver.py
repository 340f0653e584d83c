"""The dispatcher that searches orders: what it decides, on slots and on nodes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import DinkelbachParameter, search_objective
from hpcsched.dispatching.planning.selection import LARGEST, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.orders import KEYS, ArrivalOrder, KeyOrder
from hpcsched.dispatching.search.order_search import (
    OrderSearch,
    SurrogateObjective,
    random_state,
)
from hpcsched.dispatching.search.params import SurrogateParams
from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import System
from hpcsched.testing import audit_replay, make_problem, make_system, sample_workloads
from tests.builders import ALLOCATORS, Spy, Told, alike, replay, traced
from tests.strategies import mixed_workloads, tries, uniform_workloads

OBJECTIVES = [Slowdown(), BoundedSlowdown(), AF(), AWF(), PSF(), Makespan()]


def order_search(
    objective: Any = None, *, warm_start: bool = True, **more: Any
) -> PlanningDispatcher:
    """Return the dispatcher with a small budget."""
    surrogate = more.get("surrogate", SurrogateParams(warm_start=warm_start, front_bias=2.0))
    plain = search_objective(objective or AF(), surrogate.dinkelbach_parameter)
    return PlanningDispatcher(
        replace(plain, cost_of=SurrogateObjective(plain.cost_of, surrogate).cost),
        ArrivalOrder(),
        OrderSearch(
            more.get("budget", 2000),
            surrogate.front_bias,
            random_state(0),
            surrogate.discount_time_constant,
            surrogate.warm_start,
        ),
        ALLOCATORS["best-fit"],
        SelectionOptions(
            "all",
            more.get("length", 50),
            1.5,
            largest=LARGEST,
            curves=False,
            counted=True,
            few=LITTLE,
        ),
        (ArrivalOrder(), KeyOrder(KEYS["sjf"])),
        weighted=True,
    )


def check_replay(dispatcher: Any, system: Any, jobs: Any, **more: Any) -> Any:
    """Replay jobs, audit the replay, and expect that all jobs ended."""
    recorder = replay(system, dispatcher, jobs, **more)
    audit_replay(list(recorder.jobs.values()), list(jobs), system)
    assert len(recorder.jobs) == len(jobs)
    return recorder


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: type(o).__name__)
@tries(15)
@given(workload=mixed_workloads())
def test_every_decision_can_be_carried_out(objective: Any, workload: Any) -> None:
    """Unlike jobs on unlike nodes, some alone on theirs, wrong predictions: all complete."""
    predictor = Told(workload.predictions)
    check_replay(order_search(objective), workload.system, workload.jobs, predictor=predictor)


@pytest.mark.parametrize("warm_start", [False, True])
def test_sample_workloads(warm_start: bool) -> None:
    """Bursts of jobs, on slots where they all ask alike, and on nodes; few are planned at once."""
    for sample in sample_workloads(seed=5, count=14):
        for aggregated in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if aggregated else None
            dispatcher = order_search(warm_start=warm_start, length=8)
            check_replay(dispatcher, sample.system, sample.jobs, uniform_request=request)


def test_the_order_suits_the_objective() -> None:
    """Three jobs for one core: mean response time wants the shortest first, area does not mind."""
    problem = make_problem(
        make_system(1, core=1),
        """
        job_id  submit_time  units  core  requested_time
        1       0            1      1     300
        2       0            1      1     200
        3       0            1      1     100
        """,
    )
    (start,) = order_search(AF()).dispatch(problem).starts
    assert start.job_id == 3
    (start,) = order_search(AWF()).dispatch(problem).starts
    assert start.job_id == 1  # all orders cost the same, so the first that was looked at


def test_equal_problems_get_equal_decisions() -> None:
    """Two dispatchers with one seed decide alike, round by round."""
    sample = sample_workloads(seed=6, count=40)[0]
    first, second = (
        check_replay(order_search(budget=300), sample.system, sample.jobs) for _ in range(2)
    )
    assert first.jobs == second.jobs


def test_a_ratio_is_pursued_around_what_it_has_come_to() -> None:
    """The Dinkelbach parameter is a share of the ratio of the jobs that were started."""
    problem = make_problem(
        make_system(1, core=1),
        "job_id  submit_time  units  core  requested_time\n1       0            1      1     100",
    )
    dinkelbach_parameter = DinkelbachParameter(PSF(2), 0.5)
    job = problem.queue[0]
    assert dinkelbach_parameter.cost([job], 0).specific.dinkelbach_parameter == 0
    dinkelbach_parameter.add([job], 100)
    q, f = 100.0, 200.0
    ratio = 0.75 * (f**4 - q**4) / (f**3 - q**3)
    assert dinkelbach_parameter.cost([job], 100).specific.dinkelbach_parameter == pytest.approx(
        0.5 * ratio
    )


def test_a_job_that_starts_against_the_plan_counts_in_the_ratio() -> None:
    """Job 1 alone is planned, from 50 on, when there are licences for it; nothing runs.

    So job 2 starts. It runs for 10 s at once, and the ratio is 0.75 · 10⁴ / 10³ = 7.5.
    """
    licences = SharedResource("licence", 1, Draw(traced=True), (Change(50, 5),), None)
    system = System(alike(2, core=1).groups, {}, (licences,))
    jobs = [
        traced(1, 0, 1, 20, shared_requests=(("licence", 2),)),
        traced(2, 0, 1, 10, shared_requests=(("licence", 1),)),
    ]
    problems: list[DispatchingProblem] = []
    spy = Spy(order_search(PSF(2), length=1), lambda problem, _: problems.append(problem))
    replay(system, spy, jobs)
    dispatcher = order_search(PSF(2), length=1)
    decision = dispatcher.dispatch(problems[0])
    assert [start.job_id for start in decision.starts] == [2]
    assert decision.fallback
    specific = dispatcher.objective.cost_of(problems[0].queue, 0).specific
    assert specific is not None
    assert specific.dinkelbach_parameter == pytest.approx(7.5)


LATE = Outages((Outage(10**6, 10**6 + 1, (0,), "maintenance"),))
"""An outage that begins when all jobs are over."""


@pytest.mark.parametrize("objective", [AF(), PSF()], ids=lambda objective: type(objective).__name__)
@tries(60)
@given(workload=uniform_workloads())
def test_the_same_system_has_the_same_schedule(objective: Any, workload: Any) -> None:
    """Whether slots are counted, or nodes looked at, also for an outage that never matters."""
    found = []
    for request, outages in ((workload.request, NO_OUTAGES), (None, NO_OUTAGES), (None, LATE)):
        recorder = replay(
            workload.system,
            order_search(objective, budget=400),
            workload.jobs,
            predictor=Told(workload.predictions),
            uniform_request=request,
            objective=objective,
            outages=outages,
        )
        found.append(recorder.start_times)
    assert found[0] == found[1] == found[2]


def test_units_alike_are_counted_beside_whatever_runs() -> None:
    """Three jobs of (1 core, 1 mem) wait where one of (2 core, 1 mem) runs until 10.

    Two nodes of 3 cores hold six units in the end, and 3 + 1 = 4 beside the running job. Job 2,
    for 5 units, waits for 10; jobs 3 and 4, for 2 units each, start now on what is left.
    """
    problem = make_problem(
        make_system(2, core=3, mem=6),
        """
        job_id  units  run_time  core  mem  start_time
        1       1      10        2     1    0
        2       5      10        1     1    -
        3       2      10        1     1    -
        4       2      10        1     1    -
        """,
        now=0,
    )
    starts = order_search(AF()).dispatch(problem).starts
    assert {start.job_id for start in starts} == {3, 4}
