"""What is put into a model: jobs, nodes and amounts, against counts by hand or by the second."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hpcsched.dispatching.objectives import AF, AWF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner, weighted_order
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.space import NodeSpace, units_that_fit
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system
from tests.builders import Spy, Told, easy, replay
from tests.strategies import mixed_workloads, tries

PLAN_ALL = SelectionOptions("all", 100, None)


def chosen(
    problem: DispatchingProblem, options: SelectionOptions = PLAN_ALL, objective: Any = None
) -> Any:
    """Return what is selected, for an objective."""
    cost = (objective or BoundedSlowdown()).planned_cost
    return select(problem, problem.queue, options, cost)


def problems_of(workload: Any) -> list[DispatchingProblem]:
    """Return the problems of a replay under EASY."""
    seen: list[DispatchingProblem] = []
    spy = Spy(easy(), lambda problem, _: seen.append(problem))
    replay(workload.system, spy, workload.jobs, predictor=Told(workload.predictions))
    return seen


def units_free(selection: Selection, job: int, time: int) -> list[int]:
    """Return how many units of a job each node of the model has room for at a time."""
    data = selection.data
    allocated = data.allocated_until > time
    free = data.capacity.copy()
    np.subtract.at(free, data.allocated_on[allocated], data.allocated[allocated])
    asked = data.requests[job]
    some = asked > 0
    return np.minimum((free[:, some] // asked[some]).min(axis=1), data.room[job]).tolist()


@tries(60)
@given(workload=mixed_workloads())
def test_a_model_has_the_room_that_there_is(workload: Any) -> None:
    """At each time a node of the model has room for as many units as the node itself."""
    for problem in problems_of(workload):
        selection = chosen(problem)
        if selection is None:
            continue
        for i, job in enumerate(selection.jobs):
            if any(other.request.exclusive for other in selection.jobs):
                continue  # these are modelled with less room; see below
            for time in range(20):
                space = NodeSpace(problem.system, problem.free_amounts)
                for running in problem.running:
                    if running.predicted_end_time - problem.now <= time:
                        space.release(running.allocation, running.waiting.request)
                fits = units_that_fit(problem.system, space.available, job.request)[selection.nodes]
                assert units_free(selection, i, time) == fits.tolist()


@tries(60)
@given(workload=mixed_workloads())
def test_what_starts_now_in_a_list_plan_fits(workload: Any) -> None:
    """Also for jobs that are alone on their nodes: claims of the real nodes succeed."""
    for problem in problems_of(workload):
        for spare in (None, 1.0, 1.5):
            selection = chosen(problem, PLAN_ALL._replace(spare_nodes=spare))
            if selection is None:
                continue
            data = selection.data
            plan = ListPlanner(data).plan(weighted_order(data, data.weights.sum(axis=0)))
            assert fault_of(plan, data) is None
            space = NodeSpace(problem.system, problem.free_amounts)
            for i in np.flatnonzero(plan.starts == 0).tolist():
                allocation = selection.allocation(i, plan.placed[i])
                assert sum(allocation.units) == selection.jobs[i].units
                space.claim(allocation, selection.jobs[i].request)


def test_nobody_fits() -> None:
    """There is nothing to model where no job could start now."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    9       0            1      3     100             0
    1       0            1      2     10              -
    """
    assert chosen(make_problem(make_system(1, core=4), table)) is None


TABLE = """
job_id  submit_time  units  core  requested_time  start_time
9       0            1      3     100             0
1       0            1      2     10              -
2       0            1      1     20              -
3       0            1      1     30              -
"""


def test_only_what_fits_now() -> None:
    """With `fitting`, jobs that have to wait are left out; the first come first."""
    problem = make_problem(make_system(1, core=4), TABLE)
    assert [job.job_id for job in chosen(problem).jobs] == [1, 2, 3]
    assert [job.job_id for job in chosen(problem, SelectionOptions("fitting", 100, None)).jobs] == [
        2,
        3,
    ]
    assert [job.job_id for job in chosen(problem, SelectionOptions("fitting", 1, None)).jobs] == [2]
    assert [job.job_id for job in chosen(problem, SelectionOptions("all", 1, None)).jobs] == [1]


def test_worst_case_horizon() -> None:
    """It is the sum of all run times, those of running jobs included."""
    table = TABLE + "8 0 1 0 50 0\n"
    system = System((NodeGroup("node", 1, {"core": 4}),))
    problem = make_problem(system, table.replace("8 0 1 0 50 0", "8 0 1 1 50 0"), now=0)
    assert chosen(problem) is None  # both together fill the node
    problem = make_problem(make_system(1, core=5), table.replace("8 0 1 0 50 0", "8 0 1 1 50 0"))
    assert chosen(problem).data.horizon == 100 + 60
    assert chosen(problem, PLAN_ALL._replace(worst_case=True)).data.horizon == 100 + 50 + 60


def test_overdue_jobs_can_be_overlooked() -> None:
    """Without `overdue`, a job that has outlived its prediction holds nothing."""
    problem = make_problem(make_system(1, core=4), TABLE, now=200)
    assert chosen(problem).data.allocated_until.tolist() == [1]
    assert chosen(problem, PLAN_ALL._replace(overdue=False)).data.allocated_until.tolist() == []


@pytest.mark.parametrize("aggregated", [True, False])
def test_slots_and_nodes_agree(aggregated: bool) -> None:
    """Where all ask alike, one node with all the slots stands for the system."""
    table = TABLE.replace("  3     100", "  1     100").replace("  2     10", "  1     10")
    problem = make_problem(make_system(4, core=1), table, aggregated=aggregated)
    data = chosen(problem).data
    assert data.totals.tolist() == [4]
    assert data.node_count == (1 if aggregated else 4)
    assert data.allocated_until.tolist() == [100]
    assert data.horizon == 160


def test_amounts_are_counted_in_what_all_ask_for() -> None:
    """512 and 768 MiB are 2 and 3 times 256; a node's rest of less than that is no use."""
    table = """
    job_id  submit_time  units  core  mem  requested_time  start_time
    9       0            1      1     100  50              0
    1       0            1      1     512  10              -
    2       0            1      1     768  20              -
    """
    data = chosen(make_problem(make_system(1, core=4, mem=1100), table)).data
    assert data.requests.tolist() == [[1, 2], [1, 3]]
    assert data.capacity.tolist() == [[4, 4]]
    assert data.allocated.tolist() == [[1, 1]]  # 1,000 MiB are left, room for three times 256


def test_types_that_nobody_asks_for() -> None:
    """They are left out."""
    system = make_system(1, core=4, gpu=2)
    assert chosen(make_problem(system, TABLE)).data.capacity.tolist() == [[4]]


def test_nodes_are_left_out() -> None:
    """Free nodes first, then those that are free soonest, for as much as is asked for."""
    rows = "\n".join(f"{10 + n}  0  1  4  {100 * (8 - n)}  0" for n in range(6))
    columns = "job_id  submit_time  units  core  requested_time  start_time"
    problem = make_problem(
        make_system(8, core=4), f"{columns}\n{rows}\n1  0  3  4  10  -\n2 0 2 4 9 -"
    )
    assert chosen(problem, PLAN_ALL._replace(spare_nodes=None)).nodes.tolist() == list(range(8))
    # Jobs ask for five nodes; two are free, and nodes 5, 4, 3 are free next.
    assert chosen(problem, PLAN_ALL._replace(spare_nodes=1.0)).nodes.tolist() == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "objective",
    [Slowdown(), BoundedSlowdown(), BoundedSlowdown(30), AF(), AWF(), Makespan()],
    ids=lambda o: f"{type(o).__name__}",
)
def test_the_cost_of_a_plan(objective: Any) -> None:
    """A plan costs what its definition says, and the model's cost is that in whole numbers."""
    table = """
    job_id  submit_time  units  core  requested_time
    1       0            1      2     10
    2       5            2      1     20
    3       9            1      4     30
    """
    problem = make_problem(make_system(2, core=4), table, now=12)
    selection = chosen(problem, objective=objective)
    rng = np.random.default_rng(0)
    for _ in range(50):
        starts = rng.integers(0, 60, 3)
        expected = by_definition(objective, selection.jobs, starts + problem.now, problem.now)
        assert selection.cost.value(starts, selection.data.run_times) == pytest.approx(expected)
        assert selection.bound(selection.data.cost(starts)) == pytest.approx(expected, rel=1e-6)


def by_definition(objective: Any, jobs: tuple[WaitingJob, ...], starts: Any, now: int) -> float:
    """Return the cost of planned starts, written out."""
    times = [job.predicted_run_time for job in jobs]
    responses = [s + d - job.submit_time for job, s, d in zip(jobs, starts, times, strict=True)]
    match objective:
        case Slowdown():
            return float(sum(f / d for f, d in zip(responses, times, strict=True)))
        case BoundedSlowdown(tau):
            pairs = zip(responses, times, strict=True)
            return float(sum(max(1.0, f / max(d, tau)) for f, d in pairs))
        case AF():
            return float(sum(responses))
        case AWF():
            areas = [job.area for job in jobs]
            return float(sum(a * f for a, f in zip(areas, responses, strict=True)) / sum(areas))
        case _:
            return float(max(s + d for s, d in zip(starts, times, strict=True)) - now)


@tries(100)
@given(workload=mixed_workloads(shortest=1))
def test_no_plan_of_less_cost_is_cut_off(workload: Any) -> None:
    """A list plan lies within the bounds that follow from the cost of a worse one."""
    for problem in problems_of(workload):
        selection = chosen(problem)
        if selection is None:
            continue
        data = selection.data
        planner = ListPlanner(data)
        weighted = weighted_order(data, data.weights.sum(axis=0))
        plans = [planner.plan(range(data.job_count)), planner.plan(weighted)]
        better, worse = sorted((plan.starts for plan in plans), key=data.cost)
        within = data.within(data.cost(worse))
        for starts in (better, worse):
            assert (starts <= within.latest_starts).all()
            assert (starts + data.run_times).max() <= within.horizon <= data.horizon
