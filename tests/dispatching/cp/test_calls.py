"""The dispatchers `cp` and `best-of`: what they ask, and that no decision is worse than lists'."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.cp.backends.any_solver import AnySolver
from hpcsched.dispatching.cp.backends.backend import Budget, StoppingRule, share
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.cp_improver import LEVELS, Method, together
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, Task
from hpcsched.dispatching.decision import SolverCall
from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.testing import (
    audit_replay,
    check_dispatcher,
    make_problem,
    make_system,
    sample_workloads,
)
from tests.builders import ORDERS, Spy, replay
from tests.dispatching.cp.making import Scripted, improver_of, improving

SUMS: list[Any] = [Slowdown(), BoundedSlowdown(), AF(), AWF(), Makespan()]
OBJECTIVES: list[Any] = [*SUMS, PSF(2)]
METHODS: list[Method] = ["best", "each"]

# Eight slots, of which three are taken for a while; no two of the large jobs fit beside each other.
QUEUE = """
job_id  submit_time  units  requested_time  start_time
9       0            3      40              90
1       0            6      300             -
2       10           5      100             -
3       20           2      400             -
4       30           6      20              -
5       100          1      10              -
"""


def queue(aggregated: bool = True) -> DispatchingProblem:
    """Return the problem of the table above."""
    return make_problem(make_system(8, core=1), QUEUE, aggregated=aggregated)


def starts_of(problem: DispatchingProblem, order: Any) -> dict[int, int]:
    """Return when list scheduling starts each job on aggregated nodes, second by second."""
    free = [problem.system.node_count] * 5000
    for job in problem.running:
        for second in range(job.predicted_end_time - problem.now):
            free[second] -= job.units
    starts = {}
    for job in order:
        start = 0
        while min(free[start : start + job.predicted_run_time]) < job.units:
            start += 1
        for second in range(start, start + job.predicted_run_time):
            free[second] -= job.units
        starts[job.job_id] = start
    return starts


def values_of_all_orders(problem: DispatchingProblem, objective: Any) -> Iterator[float]:
    """Yield what the list plan of every order of the queue costs, or its ratio."""
    jobs = problem.queue
    run_times = np.array([job.predicted_run_time for job in jobs])
    for order in permutations(jobs):
        planned = starts_of(problem, order)
        starts = np.array([planned[job.job_id] for job in jobs])
        if not isinstance(objective, PSF):
            yield objective.planned_cost(jobs, problem.now).value(starts, run_times)
            continue
        wait = np.array([problem.now - job.submit_time for job in jobs]) + starts
        response = wait + run_times
        units = np.array([job.units for job in jobs])
        upper = float(units @ (response.astype(float) ** 4 - wait.astype(float) ** 4))
        yield 0.75 * upper / float(units @ (response.astype(float) ** 3 - wait.astype(float) ** 3))


def planned(dispatcher: PlanningDispatcher, problem: DispatchingProblem) -> tuple[float, float]:
    """Return the value of the best list plan, and of the plan that is carried out."""
    begun = dispatcher.begin(problem, dispatcher.priority.sort(problem))
    assert begun is not None
    plans, values = begun.plans, []
    for _ in range(2):
        assert plans.best is not None
        values.append(plans.value(plans.best))
        improver_of(dispatcher).improve(begun)
    return values[0], values[1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", SUMS, ids=lambda o: type(o).__name__)
def test_with_enough_work_the_plan_is_the_best_there_is(objective: Any, method: Method) -> None:
    """Where all units are alike, it costs as little as the best of all orders."""
    problem = queue()
    least = min(values_of_all_orders(problem, objective))
    dispatcher = improving(method, objective=objective, limits=Budget(2))
    at_hand, found = planned(dispatcher, problem)
    assert found == pytest.approx(least)
    assert at_hand > least * (1 + 1e-9) or isinstance(objective, AWF | Makespan)
    call = improving(method, objective=objective, limits=Budget(2)).dispatch(problem).solver
    assert call is not None
    assert call.status == "optimal"
    assert call.objective == pytest.approx(least)
    assert call.bound == pytest.approx(least)


@pytest.mark.parametrize("method", METHODS)
def test_a_ratio_is_never_worse_than_the_list_plans(method: Method) -> None:
    """It is that of the plan that is carried out, and has no bound."""
    problem = queue()
    values = list(values_of_all_orders(problem, PSF(2)))
    dispatcher = improving(method, objective=PSF(2), limits=Budget(0.05))
    at_hand, found = planned(dispatcher, problem)
    assert min(values) * (1 - 1e-9) <= found <= at_hand <= max(values) * (1 + 1e-9)
    call = improving(method, objective=PSF(2), limits=Budget(0.05)).dispatch(problem).solver
    assert call is not None
    assert call.bound is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: type(o).__name__)
def test_never_worse_than_the_best_list_plan(objective: Any, method: Method) -> None:
    """Round by round, on slots and on nodes of several kinds."""
    compared = 0
    for sample in sample_workloads(seed=3, count=12)[:4]:
        dispatcher = improving(method, objective=objective, limits=Budget(0.0005))
        problems: list[DispatchingProblem] = []
        spy = Spy(dispatcher, lambda problem, _, to=problems: to.append(problem))
        replay(sample.system, spy, sample.jobs)
        for problem in problems[:8]:
            by_priority = dispatcher.priority.sort(problem)
            if dispatcher.begin(problem, by_priority) is not None:
                at_hand, found = planned(dispatcher, problem)
                assert found <= at_hand
                compared += 1
    assert compared > 8


def test_each_list_plan_and_one_from_nothing() -> None:
    """There are N + 1 calls with equal shares of the work, and the best answer is carried out."""
    problem = queue()

    def answer(task: Task) -> Answer:
        # Shortest first only at the third call: job 5, then 4, 2, 1, 3.
        order = [4, 3, 1, 0, 2] if len(solver.tasks) == 3 else [0, 1, 2, 3, 4]
        plan = ListPlanner(task.data).plan(order)
        return Answer("feasible", plan, task.data.cost(plan.starts), 0.0, 5, 1.0, 2.0, 3.0)

    solver = Scripted(answer)
    orders = ("laf", "fcfs", "ljf")
    dispatcher = improving("each", solver=solver, orders=orders, limits=Budget(0.008))
    decision = dispatcher.dispatch(problem)
    assert [task.limits for task in solver.tasks] == [Budget(0.002)] * 4
    hints = [task.hint for task in solver.tasks]
    assert hints[3] is None
    for order, hint in zip(orders, hints, strict=False):
        starts = starts_of(problem, ORDERS[order].sort(problem))
        assert hint is not None
        assert hint.starts.tolist() == [starts[job.job_id] for job in problem.queue]
    carried_out = starts_of(problem, [problem.queue[i] for i in (4, 3, 1, 0, 2)])
    assert {start.job_id for start in decision.starts} == {
        job_id for job_id, start in carried_out.items() if start == 0
    }
    call = decision.solver
    assert call is not None
    assert (call.status, call.jobs, call.variables) == ("feasible", 5, 5)
    assert (call.build_time, call.transform_time, call.solve_time) == (4.0, 8.0, 12.0)
    run_times = np.array([job.predicted_run_time for job in problem.queue])
    starts = np.array([carried_out[job.job_id] for job in problem.queue])
    cost = AF().planned_cost(problem.queue, problem.now).value(starts, run_times)
    assert call.objective == pytest.approx(cost)


def test_calls_end_where_the_best_is_proved() -> None:
    """What is best cannot be made better."""
    solver = Scripted(lambda task: InProcess().solve(task, None))
    improving("each", solver=solver, limits=Budget(50)).dispatch(queue())
    assert len(solver.tasks) == 1


def test_a_ratio_is_followed_down() -> None:
    """Each better plan makes another model, at a lower λ, with its part of the work."""
    problem = queue()
    orders = [[1, 2, 3, 0, 4], [1, 0, 2, 3, 4], [1, 0, 2, 3, 4]]
    answers = iter(orders)

    def answer(task: Task) -> Answer:
        plan = ListPlanner(task.data).plan(next(answers))
        return Answer(status, plan, task.data.cost(plan.starts), None)

    status: Any = "optimal"
    solver = Scripted(answer)
    dispatcher = improving(objective=PSF(2), solver=solver, orders=("ljf",), limits=Budget(1))
    dispatcher.dispatch(problem)
    # The third answer is no better than the second.
    assert _ratio_of(problem, orders[1]) < _ratio_of(problem, orders[0])
    assert len(solver.tasks) == 3
    assert [task.limits for task in solver.tasks] == [
        Budget(part) for part in LEVELS[: len(solver.tasks)]
    ]
    assert solver.tasks[0].data.curves != solver.tasks[1].data.curves
    # A model that is not solved to its end is not followed by another one.
    status, answers = "feasible", iter(orders)
    solver = Scripted(answer)
    dispatcher = improving(objective=PSF(2), solver=solver, orders=("ljf",), limits=Budget(1))
    dispatcher.dispatch(problem)
    assert len(solver.tasks) == 1


def _ratio_of(problem: DispatchingProblem, order: list[int]) -> float:
    queue = tuple(problem.queue[i] for i in order)
    return next(values_of_all_orders(problem._replace(queue=queue), PSF(2)))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: type(o).__name__)
def test_without_a_solver_the_best_list_plan_is_carried_out(objective: Any) -> None:
    """It is that of an order: no other plan is made, and no solver is told of."""
    problem = queue()
    orders = ("fcfs", "sjf", "laf")
    decision = improving("each", objective=objective, orders=orders, asks=False).dispatch(problem)

    def value(order: str) -> float:
        sorted_queue = tuple(ORDERS[order].sort(problem))
        return next(values_of_all_orders(problem._replace(queue=sorted_queue), objective))

    best = min(orders, key=value)
    starts = starts_of(problem, ORDERS[best].sort(problem))
    assert [start.job_id for start in decision.starts] == [
        job.job_id for job in problem.queue if starts[job.job_id] == 0
    ]
    assert decision.solver is None
    assert not decision.fallback


@pytest.mark.parametrize("method", METHODS)
def test_a_solver_without_answers_costs_no_job(method: Method) -> None:
    """The best list plan is carried out, fewer jobs are asked about, and `why` tells."""
    solver = Scripted(Answer("unknown", why="no time"))
    dispatcher = improving(method, solver=solver)
    decision = dispatcher.dispatch(queue())
    assert decision.fallback
    assert decision.solver is not None
    assert decision.solver.status == "unknown"
    assert "no time" in decision.solver.why
    before = len(solver.tasks)
    dispatcher.dispatch(queue())
    assert solver.tasks[0].data.job_count == 5
    assert {task.data.job_count for task in solver.tasks[before:]} <= {2}


def test_from_nothing() -> None:
    """Without list plans, the first model is at the ratio that no plan gets below."""
    problem = queue()
    for objective, dinkelbach_parameter in ((AF(), None), (PSF(2), None), (PSF(2), 0.8)):
        solver = Scripted(lambda task: InProcess().solve(task, None))
        decision = improving(
            objective=objective,
            dinkelbach_parameter=dinkelbach_parameter,
            solver=solver,
            orders=(),
            limits=Budget(0.1),
        ).dispatch(problem)
        assert solver.tasks[0].hint is None
        assert decision.starts
        assert not decision.fallback


def test_a_wrong_answer_is_not_carried_out() -> None:
    """It is told of as invalid."""
    wrong = Answer("optimal", Plan(np.array([-1] * 5), np.zeros((5, 1), np.int64)), 1, 1.0)
    decision = improving(solver=Scripted(wrong)).dispatch(queue())
    assert decision.fallback
    assert decision.solver is not None
    assert decision.solver.status == "invalid"


def test_a_solver_of_small_numbers_gets_fewer_jobs() -> None:
    """Also those of a ratio, whose model is known only once there are plans."""
    for objective in (AF(), PSF(2)):
        solver = Scripted(Answer("unknown"))
        backend = OrTools(largest=4000, largest_objective=1 << 30)
        improving(objective=objective, backend=backend, solver=solver).dispatch(queue())
        assert solver.tasks
        for task in solver.tasks:
            assert 1 <= task.data.job_count < 5
            assert task.formulation.magnitude(task.data) <= 4000


def test_another_solver_does_as_well() -> None:
    """Choco proves the same optimum."""
    pytest.importorskip("pychoco")
    found = [
        improving(backend=backend, limits=Budget(30)).dispatch(queue()).solver
        for backend in (OrTools(), AnySolver("choco"))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].status == found[1].status == "optimal"
    assert found[0].objective == pytest.approx(found[1].objective)


def test_a_search_adds_a_plan() -> None:
    """The solver starts from the best order, which for so few jobs is looked for among all."""
    problem = queue()
    solver = Scripted(Answer("unknown"))
    improving(solver=solver, orders=("laf",), effort=1_000_000).dispatch(problem)
    (task,) = solver.tasks
    assert task.hint is not None
    least = min(values_of_all_orders(problem, AF()))
    run_times = np.array([job.predicted_run_time for job in problem.queue])
    cost = AF().planned_cost(problem.queue, problem.now)
    assert cost.value(task.hint.starts, run_times) == pytest.approx(least)


def backwards(task: Task) -> Answer:
    """Answer with the list plan of the last job first, at no time."""
    plan = ListPlanner(task.data).plan(range(task.data.job_count - 1, -1, -1))
    return Answer("feasible", plan, task.data.cost(plan.starts), None)


SEARCH_OBJECTIVES: dict[str, dict[str, Any]] = {
    "sum": {"objective": BoundedSlowdown()},
    "own ratio": {"objective": PSF(2)},
    "ratio so far": {"objective": PSF(2), "dinkelbach_parameter": 0.8},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("judged", SEARCH_OBJECTIVES.values(), ids=SEARCH_OBJECTIVES)
def test_every_decision_can_be_carried_out(judged: dict[str, Any], method: Method) -> None:
    """Jobs in bursts, on slots and on nodes: all complete, and the audit finds nothing."""
    for sample in sample_workloads(seed=4, count=10):
        for aggregated in {False, sample.uniform}:
            request = sample.jobs[0].job.unit_request if aggregated else None
            dispatcher = improving(method, **judged, solver=Scripted(backwards), length=8)
            recorder = replay(sample.system, dispatcher, sample.jobs, uniform_request=request)
            audit_replay(list(recorder.jobs.values()), list(sample.jobs), sample.system)
            assert len(recorder.jobs) == len(sample.jobs)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("judged", SEARCH_OBJECTIVES.values(), ids=SEARCH_OBJECTIVES)
def test_the_protocol(judged: dict[str, Any], method: Method) -> None:
    """Sample workloads are replayed with a real solver, and decided alike when asked again."""
    check_dispatcher(
        lambda: improving(method, **judged, limits=Budget(0.0005), length=8), seeds=[1]
    )


def test_one_call_tells_of_all() -> None:
    """The best status, least objective, largest bound; what brought nothing is told in words."""
    first = SolverCall("feasible", 4, 9, 7.0, 1.0, 1, 2, 3)
    second = SolverCall("unknown", 4, 9, None, 2.0, 1, 2, 3, "no time")
    third = SolverCall("optimal", 4, 9, 6.0, 6.0, 1, 2, 3)
    assert together([]) is None
    assert together([second]) is second
    call = together([first, second, third, second])
    assert call == SolverCall("optimal", 4, 9, 6.0, 6.0, 4, 8, 12, "2 of 4 calls: unknown: no time")


def test_limits_are_shared() -> None:
    """Work and seconds alike."""
    assert share(Budget(0.6), 0.5) == Budget(0.3)
    assert share(StoppingRule(20, 40, 0), 0.25) == StoppingRule(5, 10, 0)
