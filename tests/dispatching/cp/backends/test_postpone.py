"""Schedule-or-postpone against the optimum that trying everything finds, for every formulation."""

from _thread import interrupt_main
from dataclasses import replace
from itertools import count
from signal import SIGINT, default_int_handler, signal
from threading import Thread, Timer
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched._core import PostponeMode
from hpcsched.dispatching.cp.backends import schedule_or_postpone as searching
from hpcsched.dispatching.cp.backends.backend import Budget, StoppingRule
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import (
    ScheduleOrPostpone,
    cumulatives,
    open_search,
)
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp21
from hpcsched.dispatching.cp.solver_process import Answer, Task, solve
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from tests.dispatching.cp.backends.made_jobs import jobs
from tests.dispatching.cp.backends.tiny_by_meaning import optimum_of
from tests.dispatching.cp.making import FORMULATIONS
from tests.dispatching.cp.tiny import (
    SMALL,
    Size,
    optimum_by_all_starts,
    tiny_data,
    with_curves,
    with_outages,
)
from tests.strategies import tries

SYMMETRIC = pcp21(symmetric=True)
BY_POSITION = Size(jobs=3, nodes=2, types=2, units=2, run_time=3, capacity=4)
AMPLE = Budget(1)


def answered(
    formulation: Formulation,
    data: ModelData,
    hint: Plan | None = None,
) -> Answer:
    """Return what the search makes of a formulation."""
    return solve(Task(formulation, data, ScheduleOrPostpone(), AMPLE, hint))


def list_plan(data: ModelData) -> Plan:
    """Return a plan to start from."""
    return ListPlanner(data).plan(range(data.job_count))


def any_data(formulation: Formulation) -> st.SearchStrategy[ModelData]:
    """Draw data, some with outages, that are small enough to try everything."""
    size = BY_POSITION if formulation.fit == "restriction" else SMALL
    return st.one_of(tiny_data(size), with_outages(size))


def check(formulation: Formulation, data: ModelData) -> None:
    """Check that the optimum is found and proved, from any start."""
    best = optimum_of(formulation, data)
    for hint in (None, list_plan(data)):
        answer = answered(formulation, data, hint)
        assert answer.status == "optimal"
        assert answer.objective == answer.bound == best
        assert answer.branches >= (0 if hint else data.job_count)
        assert answer.fails >= 0
        check_plan(formulation, answer, data)


def check_plan(formulation: Formulation, answer: Answer, data: ModelData) -> None:
    """Check that a plan can be carried out as far as it binds, and costs what is said."""
    plan = answer.plan
    assert data.cost(plan.starts) == answer.objective
    if formulation.binds == "plan":
        assert fault_of(plan, data) is None
    elif formulation.binds == "now":
        assert fault_of(plan, data, only_now=True) is None
        assert not plan.placed[plan.starts > 0].any()
    else:
        assert not plan.placed.any()


@pytest.mark.parametrize("name", FORMULATIONS)
@tries(40)
@given(sample=st.data())
def test_it_proves_what_trying_everything_finds(name, sample):
    """Starts on shared resources, nodes of what starts now, counts on nodes, positions."""
    formulation = FORMULATIONS[name]
    check(formulation, sample.draw(any_data(formulation)))


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULATIONS)
@settings(max_examples=500, deadline=None)
@given(sample=st.data())
def test_it_proves_what_trying_everything_finds_500_times(name, sample):
    """As above, five hundred times each."""
    formulation = FORMULATIONS[name]
    check(formulation, sample.draw(any_data(formulation)))


@tries(60)
@given(data=any_data(SYMMETRIC))
def test_pcp21s_proves_nothing_where_positions_that_it_left_out_may_matter(data):
    """It goes back to the start of a job: what it says is a plan, and a proof only where it is."""
    answer = answered(SYMMETRIC, data)
    best = optimum_of(pcp21(), data)
    assert answer.status in ("optimal", "feasible")
    assert answer.objective >= best
    assert answer.objective == best or answer.status == "feasible"
    check_plan(SYMMETRIC, answer, data)


@tries(15)
@given(data=st.one_of(tiny_data(), with_outages()))
def test_the_models_have_the_same_optima(data):
    """What CP-SAT proves of the CPMpy models is what the search proves."""
    for name in ("hcp19", "pcp4", "joint-now"):
        expected = solve(Task(FORMULATIONS[name], data, OrTools(), Budget(60)))
        found = answered(FORMULATIONS[name], data)
        assert found.bound <= expected.objective
        assert found.objective == expected.objective or expected.status == "feasible"


EIGHT = jobs([3, 2, 2, 2, 1, 3, 1, 2], [9, 7, 5, 8, 3, 2, 6, 4], [4])
"""Eight jobs, the widest and longest first, on one node of four cores."""


@pytest.mark.parametrize("name", FORMULATIONS)
def test_eight_jobs_are_proved_where_the_order_they_are_in_is_bad(name):
    """Started in order, each as early as can be, they cost 73; the best plan costs 44."""
    # 44 is what `optimum_of_shared` finds in all 40,320 orders, in ten seconds.
    assert EIGHT.cost(list_plan(EIGHT).starts) == 73
    answer = answered(FORMULATIONS[name], EIGHT)
    assert (answer.status, answer.objective) == ("optimal", 44)
    assert 0 < answer.fails < answer.branches


def test_a_wide_job_goes_before_two_that_fit_now():
    """Of two cores, jobs of (1 core, 3 s), (2, 1) and (1, 3) start at 0, 3 and 0 in order.

    That costs 3. If the first is postponed, so is its twin, and they start at 1: 1 + 0 + 1 = 2.
    """
    data = jobs([1, 2, 1], [3, 1, 3], [2])
    answer = answered(hcp19(), data)
    assert answer.plan.starts.tolist() == [1, 0, 1]
    assert (answer.status, answer.objective) == ("optimal", 2)


def test_a_job_goes_where_a_node_has_become_free_though_it_could_have_started_elsewhere():
    """A node is full until 1. Three jobs need little, one needs the other node whole.

    In the best plan (18) the last job waits from 0 to 1 for the node that becomes free, although it
    could have started on the other one, which is then the large job's.
    """
    data = replace(
        jobs([1, 1, 4, 1], [1, 1, 1, 2], [4, 4], [12, 12, 12, 6]),
        room=np.array([[4, 4], [4, 4], [0, 1], [4, 4]]),
        allocated_until=np.array([1]),
        allocated_on=np.array([0]),
        allocated=np.array([[4]]),
        horizon=6,
    )
    answer = answered(FORMULATIONS["pcp19"], data)
    assert (answer.status, answer.objective) == ("optimal", 18)
    assert answer.plan.starts.tolist() == [0, 0, 1, 1]


def test_jobs_beyond_the_first_end_with_the_horizon():
    """As in the first HCP: of three jobs of all two cores, two may start when they like."""
    data = jobs([2, 2, 2], [1, 2, 3], [2])
    answer = answered(hcp19(first=2), data)
    assert (answer.status, answer.plan.starts.tolist()) == ("optimal", [0, 1, 3])
    # Two that are put off to the same end do not fit.
    answer = answered(hcp19(first=1), data)
    assert (answer.status, answer.plan, answer.fails) == ("infeasible", None, 0)


def test_hcp19_has_the_shared_resource_of_the_whole_system():
    """Three jobs of two cores fit on two nodes of three together, on each of which one fits."""
    data = jobs([1, 1, 1], [1, 1, 1], [1, 1])
    resource = SharedResourceData(
        np.ones((3, 1), np.int64), np.array([0]), np.array([[3]]), np.zeros(3), 0
    )
    whole = replace(data, aggregated_nodes=resource)
    assert sorted(answered(hcp19(), data).plan.starts.tolist()) == [0, 0, 1]
    assert answered(hcp19(), whole).plan.starts.tolist() == [0, 0, 0]
    # All else is about the nodes of the model.
    assert answered(FORMULATIONS["joint-now"], whole).objective == 1
    # What is free of it in time counts: of three, one until 2, all from then on.
    later = resource._replace(since=np.array([0, 2]), free=np.array([[1], [3]]))
    starts = answered(hcp19(), replace(data, aggregated_nodes=later, horizon=5)).plan.starts
    assert sorted(starts.tolist()) == [0, 1, 2]


def test_shared_resources_are_kept_to():
    """Of 5 W, 3 are free until 4: the job that draws 4 W starts then, beside none of 2 W."""
    data = jobs([1, 1], [2, 3], [2], [1, 1])
    shared_resources = SharedResourceData(
        np.array([[4], [2]]), np.array([0, 4]), np.array([[3], [5]]), np.array([4, 4]), 4
    )
    answer = answered(hcp19(), replace(data, shared_resources=shared_resources, horizon=9))
    assert answer.plan.starts.tolist() == [4, 0]
    assert answer.status == "optimal"


def test_nothing_is_proved_where_jobs_may_get_cheaper_by_waiting():
    """The search starts jobs as early as can be: its plans are plans, and no more is said."""

    @tries(20)
    @given(data=with_curves(Size(jobs=3, nodes=2, types=1, units=2, run_time=2, capacity=3)))
    def often(data):
        answer = answered(FORMULATIONS["pcp19"], data)
        falls = any(slope < 0 for curve in data.curves for slope in curve.slopes)
        assert answer.status == ("feasible" if falls else "optimal")
        assert answer.objective >= optimum_by_all_starts(data)
        assert falls or answer.objective == optimum_by_all_starts(data)
        check_plan(FORMULATIONS["pcp19"], answer, data)

    often()


def large(size: int = 30) -> ModelData:
    """Return jobs of which no search sees all orders."""
    number = np.arange(size)
    run_times = (3 + (number * 7) % 23).tolist()
    return jobs((1 + (number * 5) % 7).tolist(), run_times, [8, 8], [60 // d for d in run_times])


def test_a_budget_is_nodes_and_more_of_it_is_no_worse():
    """Equal budgets, equal answers: nodes, fails and plan."""
    data = large(12)
    costs = []
    for nodes in (10, 100, 1000):
        limits = Budget(nodes / searching.NODES)
        one = solve(Task(FORMULATIONS["pcp4"], data, ScheduleOrPostpone(), limits))
        two = solve(Task(FORMULATIONS["pcp4"], data, ScheduleOrPostpone(), limits))
        assert (one.branches, one.fails, one.objective) == (two.branches, two.fails, two.objective)
        assert (one.plan.placed == two.plan.placed).all()
        assert one.status == "feasible"
        assert one.branches == nodes + 12  # one for each job comes on top
        costs.append(one.objective)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


@pytest.mark.parametrize(
    ("limits", "status", "nodes"),
    [
        # At 1 s, after a node for each of the 30 jobs, there is no plan yet.
        (StoppingRule(1, 1, 0), "unknown", 30),
        # There is one at 2 s, after 100 nodes more.
        (StoppingRule(1, 100, 0), "feasible", 130),
        # The third look at the clock, after another 100, is the first that is not before 3 s.
        (StoppingRule(3, 3, 9), "feasible", 230),
    ],
)
def test_time_limits_end_the_search(limits, status, nodes, monkeypatch):
    """The search ends at the first limit with a plan (k = 0), and at the largest limit."""
    # The clock shows the next second at each look.
    seconds = count()
    monkeypatch.setattr(searching, "perf_counter", lambda: float(next(seconds)))
    answer = solve(Task(FORMULATIONS["hcp19"], large(), ScheduleOrPostpone(), limits))
    assert (answer.status, answer.branches) == (status, nodes)


def test_signals_are_handled_while_it_searches():
    """Ctrl-C ends a search that would go on for half a minute."""
    # A solver of another test may have left another handler behind.
    before = signal(SIGINT, default_int_handler)
    try:
        Timer(0.1, interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            ScheduleOrPostpone().solve(hcp19(), large(), Budget(1e9), None)
    finally:
        signal(SIGINT, before)


def test_other_threads_run_while_it_searches():
    """The search holds no lock of Python's."""
    data, mode = large(), PostponeMode.AGGREGATED
    shared = cumulatives(data, mode, hcp19().fixed_starts(data))
    search = open_search(data, hcp19(), mode, shared, range(data.job_count))
    thread = Thread(target=lambda: search.advance(10**18, 10**18, 0.3))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        sleep(0.001)
    assert turns > 20
