"""Formulations, list plans and searched orders around closed nodes, against trying everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.planning.model_data import fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from tests.dispatching.cp.formulations.test_exact_formulations import (
    EXACT,
    RELAXATIONS,
    RESTRICTIONS,
    check_exact,
    check_relaxation,
    check_restriction,
    solved,
)
from tests.dispatching.cp.tiny import (
    SMALLEST,
    Size,
    optimum,
    optimum_by_all_starts,
    with_outages,
)
from tests.strategies import tries

ONE_NODE = Size(jobs=4, nodes=1, types=1, units=1, run_time=4, capacity=4)


@tries(40)
@given(with_outages(SMALLEST))
def test_the_optimum_is_that_of_trying_every_start(data):
    """What is measured by is right itself: no plan has to go beyond the horizon."""
    assert optimum(data) == optimum_by_all_starts(data)


@pytest.mark.parametrize("formulation", EXACT.values(), ids=EXACT)
@tries(25)
@given(data=with_outages())
def test_exact_formulations_reach_the_optimum(formulation, data):
    """Whatever the start and the horizon, and no plan uses a node while it is closed."""
    check_exact(formulation, data)


@pytest.mark.parametrize("formulation", RESTRICTIONS.values(), ids=RESTRICTIONS)
@tries(25)
@given(data=with_outages())
def test_restrictions_are_no_better_and_their_plans_can_be_carried_out(formulation, data):
    """Positions of a closed node are nobody's."""
    check_restriction(formulation, data)


@pytest.mark.parametrize("formulation", RELAXATIONS.values(), ids=RELAXATIONS)
@tries(25)
@given(data=with_outages())
def test_relaxations_are_no_worse_and_what_starts_now_has_room(formulation, data):
    """Closed nodes are missing from what all have together, and jobs do not start into them."""
    check_relaxation(formulation, data)


@pytest.mark.parametrize("name", RELAXATIONS)
@tries(40)
@given(data=with_outages(ONE_NODE))
def test_a_shared_resource_of_one_node_is_exact(name, data):
    """Where all that there is is one node, nothing is relaxed."""
    assert solved(RELAXATIONS[name], data).objective == optimum(data)


@tries(200)
@given(data=with_outages(), orders=st.randoms(use_true_random=False))
def test_list_plans_keep_clear(data, orders):
    """In any order, list plans use no closed node, and cost no less."""
    order = list(range(data.job_count))
    orders.shuffle(order)
    planner = ListPlanner(data)
    plan = planner.plan(order)
    assert fault_of(plan, data) is None
    assert int((plan.starts + data.run_times).max()) <= data.horizon
    assert data.cost(plan.starts) >= optimum(data)
