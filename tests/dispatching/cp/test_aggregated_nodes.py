"""HCP'19's model against the best plan on aggregated nodes, found by trying every order."""

from collections.abc import Sequence
from itertools import permutations
from random import Random

import pytest

from hpcsched.dispatching.cp.backends.backend import Budget
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.solver_process import Task, solve
from hpcsched.dispatching.objectives import AF, Slowdown
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.outages import Outage
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system
from tests.dispatching.cp.formulations.test_as_in_the_papers import dispatcher_of
from tests.properties.brute_force import can_be_placed, node_capacities, placement_of

AGGREGATED = SelectionOptions("all", 100, None, aggregated=True)


def selected(problem: DispatchingProblem, options: SelectionOptions = AGGREGATED) -> Selection:
    """Return what HCP'19 models, with the mean response time for its objective."""
    objective = AF()
    selection = select(problem, problem.queue, options, objective.planned_cost)
    assert selection is not None
    return selection


def solved(selection: Selection) -> int:
    """Return the sum of the starts in the proved plan, in seconds from now, of both solvers."""
    sums = set()
    for backend in (OrTools(), ScheduleOrPostpone()):
        answer = solve(Task(hcp19(), selection.data, backend, Budget(60)))
        assert answer.status == "optimal"
        assert answer.plan is not None
        sums.add(int(answer.plan.starts.sum()))
    (found,) = sums
    return found


def free_by_second(problem: DispatchingProblem, length: int) -> list[list[int]]:
    """Return what is free of each resource type on all nodes together, second by second."""
    free = []
    for second in range(length):
        nodes = node_capacities(problem.system)
        for running in problem.running:
            if running.predicted_end_time - problem.now > second:
                job = running.waiting.job
                for n, units in enumerate(placement_of(problem.system, running.allocation)):
                    for r, amount in enumerate(job.unit_request):
                        nodes[n][r] -= units * amount
        for outage in problem.outages:
            if outage.start - problem.now <= second < outage.end - problem.now:
                for n in outage.nodes:
                    nodes[n] = [0] * len(nodes[n])
        free.append([sum(amounts) for amounts in zip(*nodes, strict=True)])
    return free


def aggregated_optimum(problem: DispatchingProblem) -> int:
    """Return the least sum of starts, in seconds from now.

    No job gets cheaper by waiting, so that some best plan has each job, in some order, at its
    earliest start beside those before it.
    """
    ends = [running.predicted_end_time - problem.now for running in problem.running]
    ends += [outage.end - problem.now for outage in problem.outages]
    length = max(ends, default=0) + sum(job.predicted_run_time for job in problem.queue)
    free = free_by_second(problem, length)
    best = None
    for order in permutations(problem.queue):
        left = [list(amounts) for amounts in free]
        total = 0
        for job in order:
            asked = [job.units * amount for amount in job.unit_request]
            start = 0
            while not _has_room(left[start : start + job.predicted_run_time], asked):
                start += 1
            for amounts in left[start : start + job.predicted_run_time]:
                for r, amount in enumerate(asked):
                    amounts[r] -= amount
            total += start
        best = total if best is None else min(best, total)
    assert best is not None
    return best


def _has_room(seconds: Sequence[Sequence[int]], asked: Sequence[int]) -> bool:
    return all(free >= amount for here in seconds for free, amount in zip(here, asked, strict=True))


def random_problem(random: Random) -> DispatchingProblem | None:
    """Return a problem of unlike jobs on unlike nodes; None where running jobs have no room."""
    types = ("core", "mem", "gpu")
    groups = tuple(
        NodeGroup(
            name,
            random.randint(1, 2),
            {
                "core": random.randint(1, 6),
                "mem": random.choice((4, 7, 10)),
                "gpu": random.choice((0, 0, 2)),
            },
        )
        for name in ("a", "b", "c")[: random.randint(1, 3)]
    )
    system = System(groups)
    lines = [f"job_id units {' '.join(types)} requested_time start_time"]
    for job_id in range(random.randint(2, 6)):
        capacity = random.choice(groups).resources
        amounts = [random.randint(0, capacity[name]) for name in types]
        amounts[0] = max(amounts[0], 1)
        units = random.randint(1, 2)
        start = "0" if random.random() < 0.4 else "-"
        lines.append(
            f"{job_id} {units} {' '.join(map(str, amounts))} {random.randint(1, 5)} {start}"
        )
    try:
        problem = make_problem(system, "\n".join(lines))
    except ValueError:
        return None
    if random.random() < 0.2 and not problem.running:
        begin = random.randint(1, 4)
        outage = Outage(begin, begin + random.randint(1, 3), (0,), "maintenance")
        problem = problem._replace(outages=(outage,))
    return problem


def check(seed: int) -> bool:
    """Check one random problem; say whether there was anything to plan."""
    problem = random_problem(Random(seed))
    if problem is None or not all(
        can_be_placed(problem.system, job.job, []) for job in problem.queue
    ):
        return False
    objective = AF()
    selection = select(problem, problem.queue, AGGREGATED, objective.planned_cost)
    if selection is None:
        return False  # no job can start now
    assert solved(selection) == aggregated_optimum(problem), seed
    return True


def test_the_shared_resource_is_that_of_all_nodes() -> None:
    """The optimum is that of the shared resource, on unlike nodes; some 45 problems."""
    assert sum(check(seed) for seed in range(120)) >= 40


@pytest.mark.slow
def test_the_shared_resource_is_that_of_all_nodes_on_500_problems() -> None:
    """The same, on 500 problems in which there is something to plan."""
    count, seed = 0, 1000
    while count < 500:
        count += check(seed)
        seed += 1


THREE_OF_TWO = """
job_id  units  core  requested_time
1       1      2     10
2       1      2     10
3       1      2     10
"""


@pytest.mark.parametrize("slots", [False, True])
def test_nodes_are_not_rounded_down_one_by_one(slots: bool) -> None:
    """Two nodes of 3 cores, three jobs of 2: six cores are enough for all, 1 + 1 + 1 = 3.0.

    Node by node only two fit, and the third waits for 10 s of 10: 1 + 1 + 2 = 4.0.
    """
    problem = make_problem(make_system(2, core=3), THREE_OF_TWO, aggregated=slots)
    objective = Slowdown()
    for aggregated, expected in ((True, 3.0), (False, 4.0)):
        selection = select(
            problem,
            problem.queue,
            AGGREGATED._replace(aggregated=aggregated),
            objective.planned_cost,
        )
        assert selection is not None
        answer = solve(Task(hcp19(), selection.data, OrTools(), Budget(60)))
        assert answer.objective is not None
        assert selection.bound(answer.objective) == pytest.approx(expected)


@pytest.mark.parametrize("slots", [False, True])
def test_hcp19_plans_with_the_pool_whether_units_are_counted_or_not(slots: bool) -> None:
    """The plan starts all three jobs, of which one finds no node in the first round."""
    problem = make_problem(make_system(2, core=3), THREE_OF_TWO, aggregated=slots)
    dispatcher = dispatcher_of("{name: hcp19, orders: []}")
    decision = dispatcher.dispatch(problem)
    assert decision.solver is not None
    assert decision.solver.objective == pytest.approx(3.0)
    assert [start.job_id for start in decision.starts] == [1, 2]


@pytest.mark.parametrize(("jobs", "expected"), [("pool", [1, 2]), ("fitting", [2]), ("all", 3)])
@pytest.mark.parametrize("slots", [False, True])
def test_the_filter_looks_at_the_pool_or_at_nodes(slots: bool, jobs: str, expected: object) -> None:
    """Two running jobs leave 1 core of 3 on each of three nodes; the third is idle: 5 of 9.

    Job 1 asks for two units of 2 cores: four are free, but on one node. Job 2 asks for one unit.
    Job 3 asks for three units, more than is free.
    """
    table = """
    job_id  units  core  requested_time start_time
    8       1      2     20             0
    9       1      2     20             0
    1       2      2     10             -
    2       1      2     10             -
    3       3      2     10             -
    """
    problem = make_problem(make_system(3, core=3), table, aggregated=slots)
    options = AGGREGATED._replace(jobs=jobs)
    planned = [int(job.job_id) for job in selected(problem, options).jobs]
    assert planned == ([1, 2, 3] if expected == 3 else expected)


def test_ends_of_running_jobs_are_in_a_pool_of_slots() -> None:
    """As they are in one of nodes: job 3 starts at 20, when the running units end."""
    table = """
    job_id  units  core  requested_time start_time
    8       2      2     20             0
    1       1      2     10             -
    3       3      2     10             -
    """
    starts = [
        solved(selected(make_problem(make_system(3, core=3), table, aggregated=slots)))
        for slots in (False, True)
    ]
    assert starts == [20, 20]


def test_nodes_on_which_no_job_fits_are_in_the_shared_resource() -> None:
    """A node of 4 cores and one of 1; a job of 3 and one of 2 cores: 5 of 5 cores, both now.

    The job of 2 does not fit on the node of 1, nor beside the other on that of 4.
    """
    system = System((NodeGroup("a", 1, {"core": 4}), NodeGroup("b", 1, {"core": 1})))
    table = """
    job_id  units  core  requested_time
    1       1      3     10
    2       1      2     10
    """
    problem = make_problem(system, table)
    assert solved(selected(problem)) == aggregated_optimum(problem) == 0
    assert solved(selected(problem, AGGREGATED._replace(aggregated=False))) == 10


def test_nodes_that_are_spare_are_in_the_shared_resource() -> None:
    """Leaving nodes out for list plans takes nothing from the shared resource."""
    problem = make_problem(make_system(9, core=3), THREE_OF_TWO)
    few = selected(problem, AGGREGATED._replace(spare_nodes=1.0))
    assert few.data.node_count < 9
    assert few.data.aggregated_nodes is not None
    assert few.data.aggregated_nodes.free.tolist() == [[13]]  # 27 cores, in units of 2
