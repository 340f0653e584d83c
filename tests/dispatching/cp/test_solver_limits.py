"""How long a search goes on: the papers' protocol, and work that is counted."""

from collections.abc import Sequence
from contextlib import closing
from time import perf_counter

import cpmpy as cp
import numpy as np
import pytest

from hpcsched.dispatching.cp.backends.backend import (
    Budget,
    StoppingRule,
    Watch,
)
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulation import BuiltModel
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, SolverProcess, Task
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan_improver import ListPlanner

PAPERS = StoppingRule()

# What is the best after each δ, and after how many seconds the search is broken off.
SEARCHES: Sequence[tuple[str, StoppingRule, list[int | None], float]] = [
    ("no plan is ever found", PAPERS, [None] * 16, 16),
    ("the first plan stays the best", PAPERS, [9] * 16, 4),
    ("a plan is found late", PAPERS, [None] * 2 + [9] * 12, 16),
    ("a better plan comes after an extension", StoppingRule(1.0, 64.0, 2), [9, 9, 8, 8, 8, 7], 16),
    ("a plan is enough", StoppingRule(20.0, 40.0, 0), [9, 9], 20),
    ("no plan yet is not", StoppingRule(20.0, 40.0, 0), [None, 9], 40),
    ("each plan is better", PAPERS, list(range(16, 0, -1)), 16),
    ("a plan is found at the very end", PAPERS, [None] * 4 + [9], 16),
    ("one extension is enough", StoppingRule(1.0, 16.0, 1), [9] * 16, 2),
    ("no plan within a limit that δ does not divide", StoppingRule(2.0, 5.0, 2), [None] * 3, 5),
    ("δ is δmax", StoppingRule(4.0, 4.0, 2), [9], 4),
]


@pytest.mark.parametrize(
    ("rule", "best", "end"),
    [search[1:] for search in SEARCHES],
    ids=[search[0] for search in SEARCHES],
)
def test_a_search_goes_on_while_it_pays(
    rule: StoppingRule, best: list[int | None], end: float
) -> None:
    """δ at first; twice as long while there is no plan, or k extensions ago a worse one; to δmax.

    With δ = 1, δmax = 16 and k = 2 a plan that is found at 1 and never gets better ends the search
    at 4: 2 and 4 are two extensions without a better one.
    """
    watch = Watch(rule)
    assert watch.limit == rule.first
    for seen in best:
        before = watch.limit
        if not watch.goes_on(seen):
            break
        assert watch.limit == min(2 * before, rule.most) > before
    assert watch.limit == end


def _market_split(*, escape: bool) -> BuiltModel:
    """Return equations that take CP-SAT hours; with `escape`, not meeting them costs 1."""
    random = np.random.default_rng(1)
    chosen = cp.boolvar(30)
    cost = cp.boolvar()
    equations = [
        cp.sum([int(factor) * x for factor, x in zip(row, chosen, strict=True)])
        == int(row.sum()) // 2
        for row in random.integers(0, 100, (4, 30))
    ]
    if escape:
        equations = [cp.any([cost, equation]) for equation in equations]
    else:
        equations.append(cost)
    model = cp.Model(equations)
    model.minimize(cp.sum([cost]))
    placed = np.zeros((0, 0), dtype=np.int64)
    return BuiltModel(model, [], lambda: placed, lambda _: {})


def test_ortools_stops_where_no_better_plan_comes() -> None:
    """After k extensions, long before δmax; what it has found until then counts."""
    session = OrTools().load(_market_split(escape=True))
    began = perf_counter()
    outcome = session.solve(StoppingRule(0.5, 60.0, 2), None)
    assert 1.5 <= perf_counter() - began < 20
    assert outcome[:3] == ("feasible", 1, 0.0)


def test_ortools_goes_on_while_there_is_no_plan() -> None:
    """To δmax, long after k extensions."""
    session = OrTools().load(_market_split(escape=False))
    began = perf_counter()
    outcome = session.solve(StoppingRule(0.2, 1.2, 1), None)
    assert 1.1 <= perf_counter() - began < 20
    assert outcome[:3] == ("unknown", None, None)


def _jobs(count: int) -> ModelData:
    random = np.random.default_rng(7)
    nodes = 4
    run_times = random.integers(5, 100, count)
    capacity = np.full((nodes, 1), 8)
    requests = random.integers(1, 5, (count, 1))
    none = np.zeros(0, dtype=np.int64)
    return ModelData(
        units=random.integers(1, 6, count),
        requests=requests,
        run_times=run_times,
        capacity=capacity,
        room=capacity.T // requests,
        allocated_until=none,
        allocated_on=none,
        allocated=none.reshape(0, 1),
        weights=random.integers(1, 20, (1, count)),
        free=np.zeros((1, count), dtype=np.int64),
        makespan=0,
        horizon=int(run_times.sum()),
    )


def test_ortools_stops_when_its_plan_is_proved() -> None:
    """Before δ is over."""
    data = _jobs(3)
    began = perf_counter()
    answer = InProcess().solve(Task(hcp19(), data, OrTools(), StoppingRule(60.0, 600.0, 2)), None)
    assert answer.status == "optimal", answer.why
    assert perf_counter() - began < 30


def _said(answer: Answer) -> tuple[object, ...]:
    """Return what an answer says, but for times."""
    assert answer.plan is not None, answer.why
    starts, placed = answer.plan
    return answer.status, answer.objective, answer.bound, starts.tolist(), placed.tolist()


@pytest.mark.parametrize("hinted", [pytest.param(False, marks=pytest.mark.slow), True])
def test_equal_budgets_give_equal_answers(hinted: bool) -> None:
    """In this process or another one, in a fresh one, and whatever was solved before."""
    data = _jobs(40)
    hint = ListPlanner(data).plan(range(40)) if hinted else None
    task = Task(hcp19(), data, OrTools(), Budget(0.02), hint)
    expected = _said(InProcess().solve(task, None))
    assert expected[0] == "feasible"
    with closing(SolverProcess()) as solver:
        for _ in range(2):
            assert _said(solver.solve(task, None)) == expected
            solver.solve(task._replace(data=_jobs(9)), None)
        solver.close()
        assert _said(solver.solve(task, None)) == expected
    more = InProcess().solve(task._replace(limits=Budget(0.2)), None)
    assert more.objective is not None
    assert more.objective <= expected[1]  # type: ignore[operator]
