"""Plans of whole traces can be carried out, and are good."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import AF, BoundedSlowdown
from hpcsched.dispatching.offline.offline_trace import trace_of
from hpcsched.dispatching.offline.planner import (
    ReplaysPlan,
    initial_schedules,
    plan_offline,
    shifted,
)
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.errors import DecisionError, InputError
from tests.builders import NoObjective, alike, lists, one_type, replay, traced
from tests.dispatching.offline.off_line import (
    OBJECTIVES,
    measured,
    planned,
    planned_on_nodes,
    problem,
)
from tests.properties.brute_force import audit
from tests.strategies import mixed_workloads, tries, uniform_workloads


@tries(40)
@given(uniform_workloads("exact", max_jobs=12, shortest=1), st.sampled_from(sorted(OBJECTIVES)))
def test_a_plan_of_alike_units_is_carried_out_to_the_second(workload, name: str) -> None:
    """Also where jobs run for no time."""
    system, jobs, _, request, _ = workload
    found = planned(system, jobs, OBJECTIVES[name], request)
    starts = {job_id: record.start_time for job_id, record in found.records.items()}
    assert starts == dict(found.plan.starts)
    assert audit(system, jobs, found.records) == []


@tries(40)
@given(mixed_workloads("exact", max_jobs=7, shortest=1), st.sampled_from(sorted(OBJECTIVES)))
def test_a_plan_of_unlike_nodes_is_carried_out_to_the_second(workload, name: str) -> None:
    """On the plan's nodes."""
    system, jobs, _ = workload
    found = planned_on_nodes(system, jobs, OBJECTIVES[name])
    starts = {job_id: record.start_time for job_id, record in found.records.items()}
    assert starts == dict(found.plan.starts)
    assert audit(system, jobs, found.records) == []


def _crowd(count: int, seed: int = 3) -> list:
    random = Random(seed)
    jobs, submit = [], 0
    for job_id in range(count):
        submit += random.choice([0, 0, 5, 40])
        units, run_time = random.choice([1, 1, 2, 5, 8]), random.choice([10, 30, 100, 400])
        jobs.append(traced(job_id, submit, units, run_time))
    return jobs


@pytest.mark.parametrize(("number", "order"), [*enumerate(["fcfs", "sjf", "saf", "laf", "spf"])])
def test_a_list_plan_on_line_is_what_the_dispatcher_comes_to(number: int, order: str) -> None:
    """The compiled replay and the simulator's agree on every start."""
    system, jobs = alike(8, core=1), _crowd(150)
    trace = trace_of(problem(system, jobs, AF(), (1,)))
    known = [*initial_schedules(trace, np.ones(150))][2 * number + 1]
    recorder = replay(system, lists(order), jobs, uniform_request=(1,))
    expected = recorder.start_times
    assert dict(zip(range(150), known.starts.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    "objective",
    [
        pytest.param(BoundedSlowdown(), id="bsld", marks=pytest.mark.slow),
        pytest.param(AF(), id="af"),
    ],
)
def test_a_longer_search_is_better_than_every_list_scheduler(objective) -> None:
    """What is known in advance is worth something, and so is looking."""
    system, jobs = alike(8, core=1), _crowd(220)
    first, more = (planned(system, jobs, objective, (1,), budget) for budget in (0, 20_000))
    online = [
        measured(system, replay(system, lists(order), jobs).jobs.values(), objective)
        for order in ("fcfs", "sjf", "saf", "laf", "spf")
    ]
    assert more.value < first.value <= min(online)
    assert more.plan.lower_bound <= more.value


@pytest.mark.slow
def test_plans_on_nodes_become_better_too() -> None:
    """Where units are not all alike."""
    system, jobs = alike(4, core=2), _crowd(60)
    jobs = [
        traced(j.job_id, j.submit_time, min(j.units, 4), r, (2 - j.job_id % 2,)) for j, r in jobs
    ]
    first, more = (planned(system, jobs, BoundedSlowdown(), None, k) for k in (0, 20_000))
    assert more.value < first.value
    assert audit(system, jobs, more.records) == []


def test_the_same_question_gets_the_same_answer() -> None:
    """Whatever the machine does meanwhile."""
    asked = problem(alike(8, core=1), _crowd(40), BoundedSlowdown(), (1,))
    assert plan_offline(asked, 500, 7, 1.0) == plan_offline(asked, 500, 7, 1.0)


def test_shifting_delays_no_job() -> None:
    """And every start is a submission or an end."""
    system, jobs = alike(8, core=1), _crowd(80)
    trace = trace_of(problem(system, jobs, AF(), (1,)))
    known = next(iter(initial_schedules(trace, np.ones(80))))
    late = known._replace(starts=known.starts * 2 + 3)
    early = shifted(trace, late)
    assert (early.starts <= late.starts).all()
    instants = {*trace.submit.tolist(), *(early.starts + trace.run_times).tolist()}
    assert set(early.starts.tolist()) <= instants


def test_a_job_that_missed_its_start_is_an_error() -> None:
    """Nothing is repaired silently."""
    system, jobs = alike(2, core=1), [traced(1, 0, 1, 5), traced(2, 3, 1, 5)]
    plan = plan_offline(problem(system, jobs, AF(), (1,)), 0, 1)
    follower = ReplaysPlan(plan._replace(starts={1: 0, 2: 1}), FirstFit())
    with pytest.raises(DecisionError, match="job 2 was to start at 1"):
        replay(system, follower, jobs)


def test_an_objective_without_a_cost_is_refused() -> None:
    """In words."""
    with pytest.raises(InputError, match="cannot be planned for"):
        plan_offline(problem(alike(8, core=1), _crowd(3), NoObjective(), (1,)), 0, 1)


def test_a_job_that_runs_for_no_time_is_refused() -> None:
    """The message names it and what leaves such jobs out."""
    asked = problem(one_type(1, 4), [traced(1, 0, 1, 5), traced(7, 0, 1, 0)], AF())
    with pytest.raises(InputError, match=r"job 7 runs for no time; .*zero_run_time: skip"):
        plan_offline(asked, 0, 1)


def test_a_job_that_no_whole_nodes_suit_is_refused() -> None:
    """It is alone on its nodes, and asks for more than any number of equal shares of them."""
    asked = problem(one_type(1, 4), [traced(7, 0, 5, 1, exclusive=True)], AF())
    with pytest.raises(InputError, match="job 7 cannot be planned"):
        plan_offline(asked, 0, 1)
