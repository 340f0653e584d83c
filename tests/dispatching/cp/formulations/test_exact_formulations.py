"""Every formulation against the optimum that trying everything finds, on tiny data."""

import numpy as np
import pytest
from cpmpy.transformations.get_variables import get_variables_model
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.dispatching.cp.backends.backend import Backend, Budget, DataBackend
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.joint_now import joint_now
from hpcsched.dispatching.cp.formulations.pcp19 import pcp4, pcp19
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp20, pcp21
from hpcsched.dispatching.cp.solver_process import Answer, Task, solve
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from tests.dispatching.cp.tiny import (
    SMALLEST,
    optimum,
    optimum_by_all_starts,
    tiny_data,
)
from tests.strategies import tries

EXACT = {"pcp19": pcp19(), "pcp4": pcp4()}
RESTRICTIONS = {"pcp20": pcp20(), "pcp21": pcp21()}
RELAXATIONS = {
    "hcp19": hcp19(),
    "joint-now": joint_now(),
}
AMPLE = Budget(60)

exact = pytest.mark.parametrize("formulation", EXACT.values(), ids=EXACT)
restrictions = pytest.mark.parametrize("formulation", RESTRICTIONS.values(), ids=RESTRICTIONS)
relaxations = pytest.mark.parametrize("formulation", RELAXATIONS.values(), ids=RELAXATIONS)
thousand = settings(max_examples=1000, deadline=None)


def list_plan(data: ModelData, order: list[int] | None = None) -> Plan:
    """Return the plan of one list order."""
    return ListPlanner(data).plan(order or range(data.job_count))


def solved(
    formulation: Formulation,
    data: ModelData,
    hint: Plan | None = None,
    backend: Backend | DataBackend = OrTools(),  # noqa: B008
) -> Answer:
    """Return the proved answer to a formulation, or one that was solved again for its nodes."""
    answer = solve(Task(formulation, data, backend, AMPLE, hint))
    again = formulation.fit == "relaxation" and answer.objective > answer.bound
    assert answer.status == ("feasible" if again else "optimal")
    assert answer.plan is not None
    return answer


def check_plan(answer: Answer, data: ModelData) -> None:
    """Check that a plan on nodes can be carried out and costs what the solver says."""
    assert fault_of(answer.plan, data) is None
    assert data.cost(answer.plan.starts) == answer.objective == round(answer.bound)


def check_exact(formulation: Formulation, data: ModelData) -> None:
    """Check that the optimum is reached, whatever the start and the horizon."""
    best = optimum(data)
    hint = list_plan(data)
    near = data.within(data.cost(hint.starts))
    for asked, start in ((data, None), (data, hint), (near, hint), (near, None)):
        answer = solved(formulation, asked, start)
        check_plan(answer, data)
        assert answer.objective == best


def check_restriction(formulation: Formulation, data: ModelData) -> None:
    """Check that plans can be carried out and cost no less than the best one."""
    best = optimum(data)
    costs = set()
    for hint in (None, list_plan(data)):
        answer = solved(formulation, data, hint)
        check_plan(answer, data)
        assert answer.objective >= best
        costs.add(answer.objective)
    assert len(costs) == 1


def check_relaxation(formulation: Formulation, data: ModelData) -> None:
    """Check that the bound is one, and that what starts now has room."""
    best = optimum(data)
    hint = list_plan(data)
    near = data.within(data.cost(hint.starts))
    for asked, start in ((data, None), (data, hint), (near, hint)):
        answer = solved(formulation, asked, start)
        assert answer.bound <= best
        plan = answer.plan
        if formulation.binds == "nothing":
            assert not plan.placed.any()
            assert answer.objective <= best
            continue
        lost = (plan.starts == 0) & (plan.placed.sum(axis=1) == 0)
        later = replace_starts(plan, lost)
        assert fault_of(later, data, only_now=True) is None
        assert not plan.placed[plan.starts > 0].any()


def replace_starts(plan: Plan, lost: np.ndarray) -> Plan:
    """Return a plan in which jobs that found no nodes do not start now."""
    return plan._replace(starts=np.where(lost, 1, plan.starts))


@tries(60)
@given(tiny_data(SMALLEST))
def test_the_optimum_is_that_of_trying_every_start(data):
    """What the formulations are measured by is right itself."""
    assert optimum(data) == optimum_by_all_starts(data)


@exact
@tries(20)
@given(data=tiny_data())
def test_exact_formulations_reach_the_optimum(formulation, data):
    """From any start, an exact formulation finds what trying everything finds."""
    check_exact(formulation, data)


@restrictions
@tries(20)
@given(data=tiny_data())
def test_restrictions_are_no_better_and_their_plans_can_be_carried_out(formulation, data):
    """Positions lose plans, but invent none."""
    check_restriction(formulation, data)


@relaxations
@tries(20)
@given(data=tiny_data())
def test_relaxations_are_no_worse_and_what_starts_now_has_room(formulation, data):
    """A relaxation bounds the optimum from below; what it starts now has nodes."""
    check_relaxation(formulation, data)


@tries(25)
@given(data=tiny_data())
def test_formulations_by_position_agree(data):
    """Breaking symmetries loses no plan of the positions, and gains none."""
    costs = [solved(formulation, data).objective for formulation in RESTRICTIONS.values()]
    assert len(set(costs)) == 1


@pytest.mark.parametrize("name", [*EXACT, *RESTRICTIONS])
@tries(20)
@given(data=tiny_data(), orders=st.randoms(use_true_random=False))
def test_a_hint_is_a_solution_wherever_it_is_complete(name, data, orders):
    """A list plan, hinted, satisfies the model and costs what it should."""
    formulation = (EXACT | RESTRICTIONS)[name]
    order = list(range(data.job_count))
    orders.shuffle(order)
    plan = list_plan(data, order)
    built = formulation.build(data)
    hint = built.hint(plan)
    # The solver itself sets what the objective alone has.
    own = [
        v
        for v in get_variables_model(built.model)
        if not v.name.startswith(("late", "end", "nothing"))
    ]
    complete = all(variable in hint for variable in own)
    assert complete or name not in EXACT
    if complete:
        session = OrTools().load(built)
        for variable, value in hint.items():
            session.add(variable == value)
        outcome = session.solve(AMPLE, None)
        assert outcome.status == "optimal"
        assert outcome.objective == data.cost(plan.starts)
        assert (built.placed() == plan.placed).all()


@pytest.mark.parametrize("name", [*EXACT, *RESTRICTIONS, *RELAXATIONS])
@tries(20)
@given(data=tiny_data())
def test_a_hint_without_nodes_is_one_of_starts(name, data):
    """A plan that knows no nodes still says when jobs start."""
    built = (EXACT | RESTRICTIONS | RELAXATIONS)[name].build(data)
    plan = list_plan(data)
    hint = built.hint(plan._replace(placed=np.zeros_like(plan.placed)))
    for start, value in zip(built.starts, plan.starts.tolist(), strict=True):
        assert hint[start] == value


@pytest.mark.parametrize("name", [*EXACT, *RESTRICTIONS, "joint-now"])
def test_units_that_each_need_a_node(name):
    """Of two nodes one is held until 2, so a job of two such units waits; another one need not."""
    two = np.array([[2], [2]], dtype=np.int64)
    room = np.array([[1, 1], [2, 2]], dtype=np.int64)
    one = np.ones((2, 1), dtype=np.int64)
    allocated = np.array([2]), np.array([0]), np.array([[2]])
    weights = np.array([[2, 1]])
    data = ModelData(
        np.array([2, 2]),
        one,
        np.array([3, 2]),
        two,
        room,
        *allocated,
        weights,
        0 * weights,
        0,
        7,
    )
    assert data.apart.tolist() == [True, False]
    answer = solved((EXACT | RESTRICTIONS | RELAXATIONS)[name], data)
    assert answer.plan.starts[1] == 0
    assert answer.plan.placed[1].tolist() == [0, 2]
    assert answer.plan.starts[0] == 2
    if name not in RELAXATIONS:
        assert answer.plan.placed[0].tolist() == [1, 1]


@pytest.mark.slow
@exact
@thousand
@given(data=tiny_data())
def test_exact_formulations_reach_the_optimum_often(formulation, data):
    """As above, a thousand times each."""
    check_exact(formulation, data)


@pytest.mark.slow
@restrictions
@thousand
@given(data=tiny_data())
def test_restrictions_are_no_better_often(formulation, data):
    """As above, a thousand times each."""
    check_restriction(formulation, data)


@pytest.mark.slow
@relaxations
@thousand
@given(data=tiny_data())
def test_relaxations_are_no_worse_often(formulation, data):
    """As above, a thousand times each."""
    check_relaxation(formulation, data)


@pytest.mark.slow
@thousand
@given(data=tiny_data())
def test_formulations_by_position_agree_often(data):
    """As above, a thousand times."""
    costs = [solved(formulation, data).objective for formulation in RESTRICTIONS.values()]
    assert len(set(costs)) == 1
