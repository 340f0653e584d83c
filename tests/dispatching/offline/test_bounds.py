"""No schedule is better than a lower bound, whoever made it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import AF, PSF
from hpcsched.dispatching.offline.bounds import lower_bound, mean_busy_times
from hpcsched.dispatching.offline.offline_trace import linearised_objective, trace_of
from hpcsched.dispatching.problem import Objective
from hpcsched.system.system import NodeGroup, System
from tests.builders import ORDERS, alike, easy, lists, replay, traced
from tests.dispatching.offline.off_line import (
    OBJECTIVES,
    REGULAR,
    all_schedules,
    best_of_all_orders,
    measured,
    planned,
    planned_on_nodes,
    problem,
    value_of,
)
from tests.strategies import mixed_workloads, tries, uniform_workloads

_ROUNDING = 1e-9


@tries(20)
@given(uniform_workloads("exact", max_jobs=5, shortest=1), st.sampled_from(sorted(REGULAR)))
def test_no_order_beats_the_bound_and_none_beats_what_is_proved(workload, name: str) -> None:
    """Of so few jobs every order is tried; the plan is as good as the best where it says so."""
    system, jobs, _, request, slots = workload
    objective = REGULAR[name]
    best = best_of_all_orders(system, jobs, slots, objective)
    found = planned(system, jobs, objective, request)
    assert found.plan.lower_bound <= best * (1 + _ROUNDING)
    assert best * (1 - _ROUNDING) <= found.value
    # The solver finishes so few jobs, and a plan that it finishes is the best.
    assert found.value == pytest.approx(best)
    assert found.plan.lower_bound == pytest.approx(best, rel=1e-6)


@tries(40)
@given(uniform_workloads("exact", max_jobs=3, shortest=1), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_no_schedule_of_all_beats_the_bound_of_a_ratio(workload, alpha: float) -> None:
    """Waiting can make a ratio of sums smaller, so orders are not enough: all starts are tried."""
    system, jobs, _, request, slots = workload
    objective = PSF(alpha)
    values = [
        value_of(system, jobs, starts, objective) for starts in all_schedules(jobs, slots, 14)
    ]
    found = planned(system, jobs, objective, request)
    assert found.plan.lower_bound <= min(values) * (1 + _ROUNDING)
    assert found.plan.lower_bound > 0


@tries(40)
@given(uniform_workloads("exact", max_jobs=12, shortest=1), st.sampled_from(sorted(OBJECTIVES)))
def test_no_online_dispatcher_beats_the_bound_of_alike_units(workload, name: str) -> None:
    """Jobs that run for no time are among them."""
    system, jobs, _, request, _ = workload
    _check_online(system, jobs, OBJECTIVES[name], request)


@tries(40)
@given(mixed_workloads("exact", max_jobs=7, shortest=1), st.sampled_from(sorted(OBJECTIVES)))
def test_no_online_dispatcher_beats_the_bound_of_unlike_nodes(workload, name: str) -> None:
    """Several resource types, node groups, exclusive jobs."""
    system, jobs, _ = workload
    _check_online(system, jobs, OBJECTIVES[name], None)


def test_an_exclusive_job_may_use_the_largest_nodes_alone() -> None:
    """Nodes of 2, 3 and 3 cores; 5 units of 1 core alone on their nodes, and a job of 1 unit.

    A plan has units of the first job on all three nodes, 2 on each, so that the other job waits for
    a second: mean response time (1 + 2) / 2 = 1.5 s. On the two larger nodes, 3 + 2, it leaves the
    first node to the other job, and both take 1 s: no bound may be above 1.
    """
    system = System((NodeGroup("small", 1, {"core": 2}), NodeGroup("large", 2, {"core": 3})))
    jobs = [traced(0, 0, 5, 1, exclusive=True), traced(1, 0, 1, 1)]
    found = planned_on_nodes(system, jobs, AF())
    assert found.plan.lower_bound <= 1.0 + _ROUNDING


def _check_online(system, jobs, objective: Objective, request) -> None:
    found = (
        planned_on_nodes(system, jobs, objective)
        if request is None
        else planned(system, jobs, objective, request)
    )
    if found.plan.lower_bound is None:
        assert not any(traced.run_time for traced in jobs)
        return
    assert found.plan.lower_bound <= found.value * (1 + _ROUNDING) + 1e-12
    for dispatcher in (easy(), *(lists(order) for order in ORDERS)):
        records = replay(system, dispatcher, jobs).jobs.values()
        value = measured(system, records, objective)
        assert found.plan.lower_bound <= value * (1 + _ROUNDING) + 1e-12


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 5)),
        min_size=1,
        max_size=5,
    )
)
def test_busy_times_are_those_of_the_best_schedule_second_by_second(rows) -> None:
    """On one machine with whole processing times, each second goes to the densest job there is."""
    rows = sorted(rows)
    submit, time, demand, weight = (np.array(column) for column in zip(*rows, strict=True))
    areas = time * demand
    found = mean_busy_times(submit, areas, weight.astype(float), 1)
    left, least, now = areas.astype(float), 0.0, 0
    while left.any():
        ready = [j for j in range(len(rows)) if submit[j] <= now and left[j]]
        if ready:
            job = max(ready, key=lambda j: weight[j] / areas[j])
            least += weight[job] / areas[job] * (now + 0.5)
            left[job] -= 1
        now += 1
    assert found.least == pytest.approx(least)
    assert (found.multipliers() >= 0).all()


def test_prices_bring_more_than_each_job_by_itself() -> None:
    """Ten equal jobs that need the whole machine one after another: waiting is in the bound."""
    system = alike(4, core=1)
    jobs = [traced(k, 0, 4, 10) for k in range(10)]
    trace = trace_of(problem(system, jobs, AF(), (1,)))
    bound = lower_bound(trace, linearised_objective(trace), np.arange(10) * 10)
    assert bound.value == pytest.approx(55, rel=0.05)
    assert bound.value <= 55
