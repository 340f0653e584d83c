"""The dispatcher that searches orders: what it decides, by count of units and on nodes."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.objectives import (
    AF,
    AWF,
    PSF,
    BoundedSlowdown,
    Makespan,
    PlannableWeightedSum,
    Slowdown,
    WaitTime,
)
from hpcsched.dispatching.offline.order_search_dispatcher import (
    OrderSearchDispatcher,
    make_order_search,
    surrogate_of,
)
from hpcsched.dispatching.planned_cost import cost_terms_of, run_times
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.search.params import OrderSearchParams, SurrogateParams
from hpcsched.prediction.predictors import Actual
from hpcsched.system.outages import NO_OUTAGES
from hpcsched.testing import audit_replay, make_problem, make_system, sample_workloads
from tests.builders import ALLOCATORS, Told, replay
from tests.strategies import mixed_workloads, tries, uniform_workloads

OBJECTIVES = [
    Slowdown(),
    BoundedSlowdown(),
    AF(),
    WaitTime(),
    AWF(),
    PSF(),
    Makespan(),
    PlannableWeightedSum((AF(), AWF(), Makespan()), (1.0, 2.0, 0.5)),
]
PLAIN = SurrogateParams()


def order_search(
    objective: Any = None, surrogate: SurrogateParams | None = None, **given: Any
) -> OrderSearchDispatcher:
    """Return the dispatcher; without a surrogate, with the one that suits the objective."""
    objective = objective or AF()
    context: Any = SimpleNamespace(
        objective=objective, seed=1, make=lambda _, choice: ALLOCATORS[choice]
    )
    params = OrderSearchParams(surrogate_objective=surrogate, **given)
    return make_order_search(params, context)


class Unknown:
    """An objective of which the core does not know the cost."""

    def __init__(self, objective: Any) -> None:
        self._objective = objective
        names = ("planned_cost", "planned_ratio", "measure")
        for name in names:
            if hasattr(objective, name):
                setattr(self, name, getattr(objective, name))


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
            surrogate = SurrogateParams(warm_start=warm_start, front_bias=2)
            dispatcher = order_search(surrogate=surrogate, queue_length=8, budget=2000)
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
    (start,) = order_search(AWF(), PLAIN).dispatch(problem).starts
    assert start.job_id == 1  # all orders cost the same, so the first that was looked at


def planned(dispatcher: Any, problem: DispatchingProblem) -> dict[int, int]:
    """Return the planned starts of the queue, in seconds from now, by job number."""
    decision = dispatcher.dispatch(problem._replace(explain=True))
    starts = {reason.job_id: reason.time for reason in decision.reasons if reason.time is not None}
    starts |= {start.job_id: problem.now for start in decision.starts}
    return {job_id: time - problem.now for job_id, time in starts.items()}


def list_plan(order: Any, running: list[tuple[int, int]], free: int) -> list[int]:
    """Return the starts of jobs (units, run time), each at its earliest; by hand, second by second.

    `running` has the ends and units of running jobs.
    """
    room = np.full(400, free)
    for end, units in running:
        room[end:] += units
    starts = []
    for units, run_time in order:
        start = next(t for t in range(400) if (room[t : t + run_time] >= units).all())
        room[start : start + run_time] -= units
        starts.append(start)
    return starts


WAITING = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(0, 20)), min_size=2, max_size=5
)


@pytest.mark.parametrize(
    "objective", OBJECTIVES[:5] + OBJECTIVES[6:], ids=lambda o: type(o).__name__
)
@tries(25)
@given(waiting=WAITING, running=st.lists(st.integers(1, 9), max_size=2), given_cost=st.booleans())
def test_no_order_has_a_cheaper_plan(
    objective: Any, waiting: Any, running: list[int], given_cost: bool
) -> None:
    """Of all orders of up to five jobs for 4 cores; one core each is in use for some seconds."""
    rows = [f"{k} 1 {end} 20 0" for k, end in enumerate(running, 90)]
    rows += [f"{k} {units} {time} - {wait}" for k, (units, time, wait) in enumerate(waiting, 1)]
    table = "job_id units run_time start_time submit_time\n" + "\n".join(rows)
    problem = make_problem(make_system(4, core=1), table, now=20, aggregated=True)
    left = [(end, 1) for end in running]
    asked = Unknown(objective) if given_cost else objective
    plan = planned(order_search(asked, PLAIN), problem)
    jobs = problem.queue
    times = run_times(jobs)
    cost = objective.planned_cost(jobs, 20)
    costs = []
    for order in permutations(range(len(jobs))):
        begins = list_plan(
            [(jobs[i].units, jobs[i].predicted_run_time) for i in order], left, 4 - len(running)
        )
        starts = np.empty(len(jobs), dtype=np.int64)
        starts[list(order)] = begins
        costs.append(cost.value(starts, times))
    if any(job.units <= 4 - len(running) for job in jobs):  # otherwise there is no search
        starts = np.array([plan[job.job_id] for job in jobs])
        assert cost.value(starts, times) == pytest.approx(min(costs))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: type(o).__name__)
def test_an_objective_that_the_core_does_not_know_is_asked_in_python(objective: Any) -> None:
    """The same schedule as with the core's own costs, with surrogate and all."""
    assert cost_terms_of(objective) is not None
    assert cost_terms_of(Unknown(objective)) is None
    sample = next(sample for sample in sample_workloads(seed=6, count=40) if sample.uniform)
    # Where run times are not known exactly, the core knows more of them than the objective does.
    found = [
        replay(
            sample.system,
            order_search(one, surrogate_of(objective)),
            sample.jobs,
            predictor=Actual(),
        ).start_times
        for one in (objective, Unknown(objective))
    ]
    assert found[0] == found[1]


def test_equal_problems_get_equal_decisions() -> None:
    """Two dispatchers with one seed decide alike, round by round."""
    sample = sample_workloads(seed=6, count=40)[0]
    first, second = (
        check_replay(order_search(budget=300), sample.system, sample.jobs) for _ in range(2)
    )
    assert first.jobs == second.jobs


def test_a_ratio_is_pursued_around_what_it_has_come_to() -> None:
    """PSF(2) on one core: job 1 starts after a wait of 100 s, job 2 is of one second.

    The ratio of job 1 is 3/4 · (200⁴ − 100⁴) / (200³ − 100³) = 160.7. At a small share of it a
    second more of waiting costs a job that has waited less, and of two jobs of 50 s each the one
    that has waited longer starts first; the seconds of a job that is younger than the parameter
    lower the cost, so that at the whole ratio, times 3, the younger one waits no less gladly.
    """
    table = "job_id submit_time run_time start_time\n"
    first = make_problem(make_system(1, core=1), table + "1 0 100 -", now=100)
    later = make_problem(
        make_system(1, core=1), table + "2 150 50 -\n3 0 50 -", now=200, aggregated=True
    )
    for share, expected in ((0.01, 3), (100.0, 2)):
        dispatcher = order_search(PSF(2), SurrogateParams(dinkelbach_parameter=share))
        dispatcher.dispatch(first)
        (start,) = dispatcher.dispatch(later).starts
        assert start.job_id == expected


@pytest.mark.parametrize("objective", [AF(), BoundedSlowdown()], ids=lambda o: type(o).__name__)
@tries(60)
@given(workload=uniform_workloads())
def test_the_same_system_has_the_same_schedule(objective: Any, workload: Any) -> None:
    """Whether slots are counted, or nodes looked at."""
    found = []
    for request in (workload.request, None):
        recorder = replay(
            workload.system,
            order_search(objective, budget=400),
            workload.jobs,
            predictor=Told(workload.predictions),
            uniform_request=request,
            objective=objective,
            outages=NO_OUTAGES,
        )
        found.append(recorder.start_times)
    assert found[0] == found[1]


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


def test_weights_grow_with_area() -> None:
    """Two jobs for two cores: without the exponent the shorter one first, with 2 the larger one.

    Plans cost 10 · w₂ or 30 · w₁, with weights in the relation of the areas 30 · 2 and 10 · 2.
    """
    problem = make_problem(
        make_system(2, core=1),
        "job_id units run_time submit_time\n1 2 30 0\n2 2 10 0",
        aggregated=True,
    )
    for exponent, expected in ((0.0, 2), (2.0, 1)):
        dispatcher = order_search(AF(), SurrogateParams(area_exponent=exponent))
        (start,) = dispatcher.dispatch(problem).starts
        assert start.job_id == expected


def test_a_discounted_wait_counts_less_the_longer_it_is() -> None:
    """Three jobs for one core that all cost 1 a second of waiting, times 50, 60 and 100 s.

    In full, the shortest first is best. With a time constant of 1 s all waits count the same, 1,
    but none where a job starts now; so every order costs 2, and the first looked at stays: that by
    area over weight, which is the same. Waits of slowdowns tell them apart: 1/50 + 1/60 is what
    the jobs lose that do not start.
    """
    problem = make_problem(
        make_system(1, core=1),
        "job_id units run_time submit_time\n1 1 100 0\n2 1 60 0\n3 1 50 0",
        aggregated=True,
    )
    plan = planned(order_search(Slowdown(), SurrogateParams(discount_time_constant=1)), problem)
    assert plan[3] == 0


def test_a_job_that_costs_the_others_too_much_is_held() -> None:
    """Of four cores two are free; job 1 takes them for 400 s, half of the system: an area of 200 s.

    Jobs 2 and 3 of three cores and 10 s each wait for the running one, and plans have job 1 start
    beside it. But a second of waiting costs 0.1 + 0.1 + 1/400 in all, so that job 1 costs 40.5;
    that is more than 10 times the 400/400 it has to bear itself, and less than 50 times that.
    It is not held once it has waited long enough: 40.5 < 10 · 1300/400 + …; nor alone; nor if
    nothing runs.
    """
    header = "job_id units run_time submit_time start_time\n"
    unlike = "job_id core run_time submit_time start_time\n"
    running, short = "9 2 99000 99000 99000\n", "2 3 10 100000 -\n3 3 10 100000 -\n"

    def started(rows: str, hold: float = 10.0, nodes: int = 4) -> list[int]:
        problem = make_problem(make_system(nodes, core=4 // nodes), rows, now=100_000)
        dispatcher = order_search(BoundedSlowdown(10), SurrogateParams(hold=hold))
        decision = dispatcher.dispatch(problem._replace(explain=True))
        (reason,) = [reason for reason in decision.reasons if reason.job_id == 1]
        assert (reason.kind == "not_planned") == (not decision.starts)
        return [start.job_id for start in decision.starts]

    long = "1 2 400 100000 -\n"
    assert started(header + running + long + short) == []
    assert started(header + running + long + short, 50.0) == [1]
    assert started(header + running + long + short, 0.0) == [1]
    assert started(header + running + "1 2 400 98000 -\n" + short) == [1]
    assert started(header + running + long) == [1]
    assert started(header + long + short) == [2]  # with job 3 after it, and job 1 after that
    # Where they ask for unlike units, jobs 2 and 3 may wait for what job 1 does not take.
    assert started(unlike + running + long + short, nodes=1) == [1]


def test_what_suits_an_objective() -> None:
    """Only slowdowns are discounted; a sum of objectives has only a warm start."""
    objectives = (Slowdown(), BoundedSlowdown(), AF(), AWF(), PSF())
    constants = [surrogate_of(objective).discount_time_constant for objective in objectives]
    assert constants == [14400, 14400, None, None, None]
    assert [surrogate_of(objective).hold for objective in objectives] == [10, 10, 0, 0, 0]
    assert surrogate_of(Makespan()) == SurrogateParams(warm_start=True)


def test_parameters_reach_their_parts() -> None:
    """Allocator, budget and number of jobs are those that are given."""
    dispatcher = order_search(allocator="first-fit", budget=7, queue_length=1)
    assert dispatcher.allocator is ALLOCATORS["first-fit"]
    assert dispatcher.settings.budget == 7
