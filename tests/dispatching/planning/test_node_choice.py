"""The nodes to plan on, by hand."""

import numpy as np
import pytest

from hpcsched.dispatching.planning.node_choice import FitCounts, chosen_nodes, ends_of, releases_of
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.outages import Outage
from hpcsched.testing import make_problem, make_system
from tests.builders import changed_request, one_type

# On six nodes of four cores: nodes 0 and 1 are full until 30 and 20, one core of node 2 is free
# now and the others at 10, two of node 3 are free now and the others at 40; 4 and 5 are idle.
TABLE = """
job_id  submit_time  units  core  requested_time  start_time
11      0            1      4     30              0
12      0            1      4     20              0
13      0            1      3     10              0
14      0            1      2     40              0
1       0            2      1     5               -
"""
SIX = make_problem(make_system(6, core=4), TABLE)


def chosen(problem: DispatchingProblem, spare: float | None) -> list[int]:
    """Return the nodes for all jobs of the queue."""
    releases = releases_of(problem.system, ends_of(problem, overdue=True))
    counts = FitCounts(problem)
    return chosen_nodes(problem.queue, counts, releases, problem.now, spare).tolist()


def test_fit_counts() -> None:
    """Units of one core: what is free now, and four on each idle node."""
    counts, (job,) = FitCounts(SIX), SIX.queue
    assert counts.now(job).tolist() == [0, 0, 1, 2, 4, 4]
    assert counts.units_now(job) == 11
    assert counts.idle(job).tolist() == [4] * 6
    assert counts.back_at is None


@pytest.mark.parametrize(
    ("spare", "nodes"),
    [
        # Two units: node 4 is free, and nodes 2 and 3 are the fullest that hold three.
        (1.0, [2, 3, 4]),
        # Six units: nodes 4 and 5 are free; 2, 3 and 4 are the fullest that hold seven.
        (3.0, [2, 3, 4, 5]),
        # Twelve units: eleven fit now, and node 1 is free before node 0.
        (6.0, [1, 2, 3, 4, 5]),
        (None, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_soonest_free_and_fullest(spare: float | None, nodes: list[int]) -> None:
    """There are nodes of both kinds for `spare` times the units of the job."""
    assert chosen(SIX, spare) == nodes


@pytest.mark.parametrize(("spare", "nodes"), [(None, [1, 3]), (1.0, [1]), (9.0, [1, 3])])
def test_nodes_that_no_job_can_use(spare: float | None, nodes: list[int]) -> None:
    """A unit of three cores fits on no node of two; one of the others holds it."""
    table = "job_id submit_time units core requested_time\n1 0 1 3 10"
    assert chosen(make_problem(one_type(2, 4, 2, 3), table), spare) == nodes


def test_each_shape_has_its_own_nodes() -> None:
    """Jobs of one core have nodes 0, the fullest, and 1, the smallest that is idle; job 3 has 2."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    9       0            1      1     50              0
    1       0            1      1     10              -
    2       0            1      1     20              -
    3       0            1      6     10              -
    """
    assert chosen(make_problem(one_type(4, 4, 6, 6), table), 1.0) == [0, 1, 2]


def test_of_many_busy_nodes_those_that_are_free_first() -> None:
    """All ten nodes are full; the ones that are free at 10 and 20 are nodes 6 and 3."""
    ends = [90, 80, 70, 20, 60, 50, 10, 30, 40, 95]
    rows = "\n".join(f"{20 + k} 0 1 4 {end} 0" for k, end in enumerate(ends))
    columns = "job_id submit_time units core requested_time start_time"
    problem = make_problem(make_system(10, core=4), f"{columns}\n{rows}\n1 0 1 4 5 -")
    assert chosen(problem, 1.0) == [6]
    assert chosen(problem, 2.0) == [3, 6]
    assert chosen(problem, 10.0) == list(range(10))


def test_closed_nodes_count_from_when_they_are_back() -> None:
    """Node 0 is free at 30; nodes 1 and 2 are closed until 20 and 40, and count as idle then."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    9       0            1      4     30              0
    1       0            1      4     10              -
    """
    problem = make_problem(make_system(3, core=4), table)
    (job,) = problem.queue
    request = job.request._replace(allowed_nodes=frozenset({0}))
    job = job._replace(job=changed_request(job.job, allowed_nodes=None), request=request)
    outages = (Outage(0, 20, (1,), "maintenance"), Outage(0, 40, (2,), "maintenance"))
    free = np.zeros((1, 3), dtype=np.int64)
    problem = problem._replace(queue=(job,), outages=outages, free_amounts=free)
    counts = FitCounts(problem)
    assert counts.back_at is not None
    assert counts.back_at.tolist() == [0, 20, 40]
    assert (counts.now(job).tolist(), counts.idle(job).tolist()) == ([0, 0, 0], [1, 1, 1])
    assert counts.units_now(job) == 0
    assert [chosen(problem, spare) for spare in (1.0, 2.0, 3.0)] == [[1], [0, 1], [0, 1, 2]]
