"""The CP dispatcher: what it asks, and what it makes of answers, good and bad."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.cp_dispatchers import ExpectedWaits
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, Task
from hpcsched.dispatching.decision import SOLVER_STATUSES
from hpcsched.dispatching.objectives import AF, AWF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.testing import audit_replay, make_problem, make_system, sample_workloads
from tests.builders import Spy, Told, replay
from tests.dispatching.cp.making import FORMULATIONS, Scripted, cp_dispatcher
from tests.strategies import mixed_workloads, tries

OBJECTIVES = [Slowdown(), BoundedSlowdown(), AF(), AWF(), Makespan()]

COLUMNS = "job_id  submit_time  units  core  requested_time"
TWO_FIT = """
job_id  submit_time  units  core  requested_time
1       0            1      2     10
2       0            1      2     10
"""
ONE_FITS = """
job_id  submit_time  units  core  requested_time
1       0            1      4     30
2       0            1      4     10
"""


def check_replay(dispatcher: Any, system: Any, jobs: Any, **more: Any) -> Any:
    """Replay jobs, audit the replay, and expect that no round fell back."""
    recorder = replay(system, dispatcher, jobs, **more)
    audit_replay(list(recorder.jobs.values()), list(jobs), system)
    assert len(recorder.jobs) == len(jobs)
    return recorder


@pytest.mark.parametrize("name", FORMULATIONS)
@tries(12)
@given(workload=mixed_workloads())
def test_every_decision_can_be_carried_out(name: str, workload: Any) -> None:
    """Unlike jobs on unlike nodes, some alone on theirs, wrong predictions: all complete."""
    check_replay(
        cp_dispatcher(name), workload.system, workload.jobs, predictor=Told(workload.predictions)
    )


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("jobs", ["fitting", "all"])
def test_sample_workloads(name: str, jobs: str) -> None:
    """Bursts of jobs, on slots where they all ask alike, and on nodes."""
    for sample in sample_workloads(seed=4, count=14):
        for aggregated in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if aggregated else None
            dispatcher = cp_dispatcher(name, jobs=jobs, length=8)
            check_replay(dispatcher, sample.system, sample.jobs, uniform_request=request)


@pytest.mark.parametrize(
    "objective",
    [
        pytest.param(o, marks=() if isinstance(o, AF | AWF) else pytest.mark.slow)
        for o in OBJECTIVES
    ],
    ids=lambda o: type(o).__name__,
)
def test_never_worse_than_the_list_plans_at_hand(objective: Any) -> None:
    """What is decided belongs to a plan that costs no more than the best list plan."""
    costs: list[tuple[float, float]] = []

    def look(task: Task) -> Answer:
        answer = InProcess().solve(task, None)
        if answer.plan is not None:
            hint = task.hint
            assert hint is not None
            costs.append((task.data.cost(answer.plan.starts), task.data.cost(hint.starts)))
        return answer

    sample = sample_workloads(seed=1, count=30)[2]
    check_replay(
        cp_dispatcher("pcp19", solver=Scripted(look), objective=objective),
        sample.system,
        sample.jobs,
    )
    assert costs
    assert all(planned <= at_hand for planned, at_hand in costs)


def test_no_solver_where_everything_starts_now() -> None:
    """All jobs fit beside each other, so there is nothing to decide."""
    solver = Scripted()
    decision = cp_dispatcher(solver=solver).dispatch(make_problem(make_system(1, core=4), TWO_FIT))
    assert [start.job_id for start in decision.starts] == [1, 2]
    assert not solver.tasks
    assert decision.solver is None
    assert not decision.fallback


def test_no_solver_where_nothing_can_start() -> None:
    """The node is taken."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    9       0            1      4     100             0
    1       0            1      2     10              -
    """
    solver = Scripted()
    problem = make_problem(make_system(1, core=4), table)
    decision = cp_dispatcher(solver=solver).dispatch(problem)
    assert not decision.starts
    assert not solver.tasks


def test_the_better_order_is_found() -> None:
    """Of two jobs that exclude each other, the short one goes first."""
    decision = cp_dispatcher(orders=()).dispatch(make_problem(make_system(1, core=4), ONE_FITS))
    assert [start.job_id for start in decision.starts] == [2]
    assert decision.solver is not None
    assert decision.solver.status == "optimal"
    assert decision.solver.jobs == 2
    assert decision.solver.objective == pytest.approx(1 + (10 + 30) / 30)
    assert decision.solver.bound == pytest.approx(decision.solver.objective)


WRONG = {
    "in the past": Plan(np.array([-1, 0]), np.ones((2, 1), np.int64)),
    "no nodes": Plan(np.array([0, 10]), np.zeros((2, 1), np.int64)),
    "too many units": Plan(np.array([0, 10]), np.full((2, 1), 2)),
    "both at once": Plan(np.array([0, 0]), np.ones((2, 1), np.int64)),
    "about other jobs": Plan(np.array([0]), np.ones((1, 1), np.int64)),
    "about other nodes": Plan(np.array([0, 10]), np.ones((2, 3), np.int64)),
    "less than nothing": Plan(np.array([0, 10]), np.array([[2], [-1]])),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_answer_is_not_carried_out(what: str) -> None:
    """The best list plan is, and the round says so."""
    solver = Scripted(Answer("optimal", WRONG[what], 1, 1.0))
    problem = make_problem(make_system(1, core=4), ONE_FITS)
    decision = cp_dispatcher(solver=solver).dispatch(problem)
    assert [start.job_id for start in decision.starts] == [2]
    assert decision.fallback
    assert decision.solver is not None
    assert decision.solver.status == "invalid"


@pytest.mark.parametrize("status", [s for s in SOLVER_STATUSES if s not in ("optimal", "feasible")])
@pytest.mark.parametrize("orders", [(), None])
def test_no_answer(status: Any, orders: Any) -> None:
    """Whatever the solver's trouble, a list plan is carried out and the status is passed on."""
    more = {} if orders is None else {"orders": orders}
    dispatcher = cp_dispatcher(solver=Scripted(Answer(status)), **more)
    decision = dispatcher.dispatch(make_problem(make_system(1, core=4), ONE_FITS))
    assert len(decision.starts) == 1
    assert decision.fallback
    assert decision.solver is not None
    assert decision.solver.status == status


@pytest.mark.parametrize("decode", ["list", "prb"])
@pytest.mark.parametrize("name", ["hcp19", "pcp19", "joint-now"])
def test_no_answer_ever(name: str, decode: Any) -> None:
    """A solver that never answers costs no job."""
    for sample in sample_workloads(seed=2, count=25):
        dispatcher = cp_dispatcher(name, solver=Scripted(Answer("unknown")), decode=decode)
        recorder = check_replay(dispatcher, sample.system, sample.jobs)
        assert any(record.fallback for record in recorder.rounds)


def test_plans_that_put_everything_off() -> None:
    """Where nothing runs, something starts, whatever the solver says."""

    def later(task: Task) -> Answer:
        plan = ListPlanner(task.data).plan(range(task.data.job_count))
        return Answer("feasible", plan._replace(starts=plan.starts + 5), 1, 0.0)

    sample = sample_workloads(seed=3, count=20)[2]
    for name in ("hcp19", "pcp19", "joint-now"):
        for decode in ("list", "prb"):
            dispatcher = cp_dispatcher(name, solver=Scripted(later), orders=(), decode=decode)
            check_replay(dispatcher, sample.system, sample.jobs)


def test_fewer_jobs_after_a_round_without_an_answer() -> None:
    """Half as many each time, and all of them again once there is nothing to ask."""
    answers = iter(["unknown", "overrun", "failed", "good", "unknown"])

    def answer(task: Task) -> Answer:
        status: Any = next(answers)
        if status != "good":
            return Answer(status)
        plan = ListPlanner(task.data).plan(range(task.data.job_count))
        return Answer("feasible", plan, 1, 0.0)

    solver = Scripted(answer)
    dispatcher = cp_dispatcher(solver=solver, length=8)
    rows = "\n".join(f"{i}   0   1   4   {i}0" for i in range(1, 11))
    problem = make_problem(make_system(1, core=4), f"{COLUMNS}\n{rows}")
    for _ in range(6):
        dispatcher.dispatch(problem)  # the fourth time, the one job simply starts
    assert [task.data.job_count for task in solver.tasks] == [8, 4, 2, 8, 8]


def test_a_model_has_at_most_so_many_variables() -> None:
    """Fewer jobs are modelled where more would need too many."""
    solver = Scripted(Answer("unknown"))
    rows = "\n".join(f"{i}   0   2   4   {i}0" for i in range(1, 11))
    problem = make_problem(make_system(2, core=4), f"{COLUMNS}\n{rows}")
    cp_dispatcher(solver=solver, largest_model=16).dispatch(problem)
    assert [task.data.job_count for task in solver.tasks] == [5]


def test_fewer_jobs_for_solvers_of_small_numbers() -> None:
    """As many as keep numbers within the solver's range: four, as eight could take 36,000 s."""
    solver = Scripted(Answer("unknown"))
    rows = "\n".join(f"{i}   0   1   4   {i}000" for i in range(1, 9))
    problem = make_problem(make_system(2, core=4), f"{COLUMNS}\n{rows}")
    backend = OrTools(largest=20_000, largest_objective=100_000)
    cp_dispatcher(solver=solver, backend=backend).dispatch(problem)
    (task,) = solver.tasks
    assert task.data.capacity.tolist() == [[1], [1]]  # in units of what all ask for
    assert task.data.job_count == 4
    assert task.formulation.magnitude(task.data) <= 20_000
    assert task.data.cost(np.full(4, task.data.horizon)) <= 100_000


@pytest.mark.parametrize("name", ["hcp19", pytest.param("pcp19", marks=pytest.mark.slow)])
@pytest.mark.parametrize("overdue", [False, True])
def test_the_versions_of_the_thesis(name: str, overdue: bool) -> None:
    """Jobs that outlive their predictions are overlooked by versions 0 and 1; none is lost."""
    waits = ExpectedWaits(60, {1: 30, 2: 600})
    cost = waits.hcp_cost if name == "hcp19" else waits.pcp_cost
    for sample in sample_workloads(seed=6, count=25):
        for aggregated in {False, sample.uniform}:
            dispatcher = cp_dispatcher(
                name, orders=(), decode="prb", overdue=overdue, priority=waits, cost_of=cost
            )
            request = sample.jobs[0].job.unit_request if aggregated else None
            predictions = {job.job.job_id: 3 for job in sample.jobs}
            check_replay(
                dispatcher,
                sample.system,
                sample.jobs,
                predictor=Told(predictions),
                uniform_request=request,
            )


def test_equal_problems_get_equal_decisions() -> None:
    """Solver and all: two replays are the same."""
    sample = sample_workloads(seed=5, count=40)[2]
    found = []
    for _ in range(2):
        decisions: list[Any] = []
        spy = Spy(cp_dispatcher("joint-now"), lambda _, decision, to=decisions: to.append(decision))
        replay(sample.system, spy, sample.jobs)
        found.append([(d.starts, d.solver and (*d.solver[:5],)) for d in decisions])
    assert found[0] == found[1]
