"""What the solver is asked about part of a round for: list plans are of all jobs all the same."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.cp_improver import Part
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, Task
from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import Plan, fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner, Plans
from hpcsched.dispatching.planning.search_objective import search_objective
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.testing import audit_replay, make_problem, make_system, sample_workloads
from tests.builders import ORDERS, alike, lists, replay, traced
from tests.dispatching.cp.making import Scripted, cp_dispatcher, improver_of, improving

MAKE: dict[str, Callable[..., Any]] = {
    "joint-now": lambda **more: cp_dispatcher("joint-now", orders=(ORDERS["fcfs"],), **more),
    "cp": lambda **more: improving("best", orders=("fcfs",), **more),
    "best-of": lambda **more: improving("each", orders=("fcfs",), **more),
}

# One core of four is free up to 150, and job 2 wants all four.
SMALL_BEHIND_LARGE = [
    traced(1, 0, 3, 150),
    traced(2, 1, 4, 10),
    traced(3, 2, 1, 10),
    traced(4, 3, 1, 10),
    traced(5, 4, 1, 10),
]


@pytest.mark.parametrize("aggregated", [False, True])
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_a_solver_that_always_fails_leaves_list_scheduling(make: Any, aggregated: bool) -> None:
    """Small jobs start behind a large one, also after the solver is asked about that one alone.

    At 2 the solver is asked about jobs 2 and 3, and fails, so at 12 it is asked about the first
    alone, which is job 2. Job 3 runs from 2 to 12, job 4 from 12 to 22 and job 5 from 22 to 32 on
    the free core; job 2 runs once job 1 has ended at 150.
    """
    request = (1,) if aggregated else None
    system = alike(4, core=1)
    solver = Scripted(Answer("failed"))
    recorder = replay(system, make(solver=solver), SMALL_BEHIND_LARGE, uniform_request=request)
    assert recorder.start_times == {1: 0, 2: 150, 3: 2, 4: 12, 5: 22}
    expected = replay(system, lists("fcfs"), SMALL_BEHIND_LARGE, uniform_request=request)
    assert recorder.start_times == expected.start_times
    asked = [task.data.job_count for task in solver.tasks]
    assert asked[0] == 2
    assert asked[-1] == 1


# Of four cores job 9 holds two up to 10; it is 3.
HALF_FREE = """
job_id  submit_time  units  requested_time  start_time
9       0            2      10              0
1       0            4      100             -
2       1            1      20              -
3       2            2      30              -
4       3            1      5               -
"""


def half_free(aggregated: bool) -> DispatchingProblem:
    """Return the problem of the table above."""
    return make_problem(make_system(4, core=1), HALF_FREE, aggregated=aggregated)


def last_first(task: Task) -> Answer:
    """Answer with the list plan of the last job first."""
    plan = ListPlanner(task.data).plan(range(task.data.job_count - 1, -1, -1))
    return Answer("feasible", plan, task.data.cost(plan.starts), 0.0)


@pytest.mark.parametrize("aggregated", [False, True])
@pytest.mark.parametrize("name", MAKE)
def test_jobs_that_the_solver_is_not_asked_about_follow(name: str, aggregated: bool) -> None:
    """They follow the solver's plan of the others, and the best plan of all jobs is done.

    The list plan has job 1 on all four cores from 10 to 110, jobs 2 and 3 behind it, and job 4 from
    3 to 8. Jobs respond within 110, 110 + 20 - 1, 110 + 30 - 2 and 5: together 382. Asked about
    jobs 1 and 2, the solver has job 2 run from 3 to 23 and then job 1, up to 123. Job 4 has the
    other core now; job 3 finds two for 30 s from 123 on. That is 123, 22, 151 and 5: together 301.
    """

    def answer(task: Task) -> Answer:
        return Answer("unknown") if task.data.job_count == 4 else last_first(task)

    solver = Scripted(answer)
    if name == "joint-now":  # with an order it would have a plan by area over weight too
        dispatcher: Any = cp_dispatcher(
            solver=solver, orders=(), objective=AF(), priority=ORDERS["fcfs"]
        )
    else:
        dispatcher = MAKE[name](solver=solver)
    decision = dispatcher.dispatch(half_free(aggregated))
    assert decision.fallback
    assert {start.job_id for start in decision.starts} == {4}
    decision = dispatcher.dispatch(half_free(aggregated))
    assert not decision.fallback
    assert {start.job_id for start in decision.starts} == {2, 4}
    assert solver.tasks[-1].data.job_count == 2
    assert decision.solver is not None
    assert decision.solver.jobs == 2


@pytest.mark.parametrize("aggregated", [False, True])
def test_plans_go_from_the_part_to_the_whole(aggregated: bool) -> None:
    """From now on, in seconds: job 9 ends at 7, and the solver has job 2 at 0 and job 1 at 40.

    As planned, job 3 runs from 7 to 37 between them. By list scheduling in that order job 1 starts
    at 20 already, and job 3 behind it, at 120. Job 4 starts at once.
    """
    problem = half_free(aggregated)

    whole = select(problem, problem.queue, SelectionOptions("all", 100, None), AF().planned_cost)
    assert whole is not None
    model = select(problem, whole.jobs, SelectionOptions("all", 2, None), AF().planned_cost)
    assert model is not None
    planner = ListPlanner(whole.data)
    by_arrival = planner.plan(range(4))
    objective = search_objective(AF(), None)
    part = Part(Plans(objective, whole, planner, [by_arrival]), model)
    placed = np.array([[4], [1]]) if aggregated else np.array([[1, 1, 1, 1], [0, 0, 0, 1]])
    plan = Plan(np.array([40, 0]), placed)
    assert fault_of(plan, model.data) is None
    for as_planned, starts in ((True, [40, 0, 7, 0]), (False, [20, 0, 120, 0])):
        extended = part.extended(plan, as_planned=as_planned)
        assert extended.starts.tolist() == starts
        assert extended.placed[1].tolist() == placed[1].tolist()
        assert fault_of(extended, whole.data) is None
    # Back again: job 1 at 7, and job 2 after its 100 s.
    assert part.plans.at_hand[0].starts.tolist() == [7, 107]


@pytest.mark.parametrize("name", ["hcp19", "pcp19", "pcp4", "joint-now"])
@pytest.mark.parametrize(
    "more",
    [{}, {"largest_model": 20}, {"backend": OrTools(largest=800)}],
    ids=["halved", "small models", "small numbers"],
)
def test_every_decision_can_be_carried_out(name: str, more: dict[str, Any]) -> None:
    """Every other round has no plan, so the solver is asked about parts; no job is lost."""
    rounds = count()
    solved = []

    def answer(task: Task) -> Answer:
        found = InProcess().solve(task, None) if next(rounds) % 2 else Answer("unknown")
        solved.append(found.plan is not None)
        return found

    for sample in sample_workloads(seed=4, count=20):
        for aggregated in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if aggregated else None
            dispatcher = cp_dispatcher(name, solver=Scripted(answer), length=8, **more)
            recorder = replay(sample.system, dispatcher, sample.jobs, uniform_request=request)
            audit_replay(list(recorder.jobs.values()), list(sample.jobs), sample.system)
            assert len(recorder.jobs) == len(sample.jobs)
    assert any(solved)


@pytest.mark.parametrize("name", MAKE)
def test_a_cost_that_the_solver_cannot_count(name: str) -> None:
    """It is not asked, which is told of, and the list plan is carried out: job 4 starts."""
    more = {"priority": ORDERS["fcfs"], "objective": AF()} if name == "joint-now" else {}
    solver, backend = Scripted(), OrTools(largest_objective=1)
    decision = MAKE[name](solver=solver, backend=backend, **more).dispatch(half_free(True))
    assert not solver.tasks
    assert decision.fallback
    assert decision.solver is not None
    assert decision.solver.status == "overflow"
    assert 4 in {start.job_id for start in decision.starts}


@pytest.mark.parametrize("name", MAKE)
def test_a_model_of_few_variables_leaves_the_list_plan(name: str) -> None:
    """The solver is asked about as many jobs as it may be; the list plan is of all."""
    solver = Scripted(Answer("unknown"))
    dispatcher = MAKE[name](solver=solver)
    dispatcher.priority = ORDERS["fcfs"]
    improver_of(dispatcher).largest_model = 1
    decision = dispatcher.dispatch(half_free(True))
    assert {task.data.job_count for task in solver.tasks} == {1}
    assert 4 in {start.job_id for start in decision.starts}
