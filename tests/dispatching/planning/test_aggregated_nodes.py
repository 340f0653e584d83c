"""All nodes as one resource of each type, by hand."""

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.outages import Outage
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem

OPTIONS = SelectionOptions("all", 100, None, aggregated=True)
SYSTEM = System(
    (NodeGroup("a", 2, {"core": 6, "mem": 10}), NodeGroup("b", 1, {"core": 3, "mem": 10}))
)


def aggregated(problem: DispatchingProblem) -> SharedResourceData:
    """Return the aggregated nodes of a model of the whole queue."""
    objective = AF()
    selection = select(
        problem,
        problem.queue,
        OPTIONS,
        objective.planned_cost,
    )
    assert selection is not None
    found = selection.data.aggregated_nodes
    assert found is not None
    return found


def test_an_idle_system() -> None:
    """15 cores of three nodes, in units of 2: 7; jobs ask for 2 · 2 and 3 · 2 cores, 2 and 3 units.

    Memory is asked for by nobody and is left out. A node of 3 cores has room for one unit alone,
    but its odd core is counted with those of the other nodes.
    """
    found = aggregated(make_problem(SYSTEM, "job_id units core requested_time\n1 2 2 10\n2 3 2 10"))
    assert found.draws.tolist() == [[2], [3]]
    assert (found.since.tolist(), found.free.tolist()) == ([0], [[7]])
    assert found.last == 0
    assert found.allowance.tolist() == [0, 0]


RUNNING = """
job_id  units  core  mem  requested_time  start_time
1       1      4     0    30              0
2       1      1     2    50              0
3       1      3     2    20              -
4       2      3     4    20              -
"""


def test_running_jobs_hold_what_they_asked_for() -> None:
    """Now 15 - 5 cores and 30 - 2 of memory are free; job 1 gives 4 cores back at 30, job 2 at 50.

    Jobs ask for 3 and 6 cores, 2 and 8 of memory: units of 3 and 2. 10 / 3 = 3, 14 / 3 = 4, 15 / 3
    = 5 cores, and 28 / 2 = 14 until 50, then 15.
    """
    found = aggregated(make_problem(SYSTEM, RUNNING, now=0))
    assert found.draws.tolist() == [[1, 1], [2, 4]]
    assert found.since.tolist() == [0, 30, 50]
    assert found.free.tolist() == [[3, 14], [4, 14], [5, 15]]
    assert found.last == 50


def test_equal_amounts_are_one_piece() -> None:
    """10, 11 and 15 cores in units of 5 are 2, 2 and 3: the release of one core is no change."""
    table = """
    job_id  units  core  requested_time  start_time
    1       1      1     30              0
    2       2      2     50              0
    3       1      5     20              -
    """
    found = aggregated(make_problem(SYSTEM, table, now=0))
    assert (found.since.tolist(), found.free.tolist()) == ([0, 50], [[2], [3]])


def test_outages_close_whole_nodes_for_a_while() -> None:
    """From 10 to 25 node 0 is closed: 9 of 15 cores are left."""
    problem = make_problem(SYSTEM, "job_id core requested_time\n1 1 5\n2 3 40")
    outage = Outage(10, 25, (0,), "maintenance")
    found = aggregated(problem._replace(outages=(outage,)))
    assert found.since.tolist() == [0, 10, 25]
    assert found.free.tolist() == [[15], [9], [15]]


def test_exclusive_jobs_take_shares_of_nodes() -> None:
    """An exclusive job takes all shares of a node, and a unit of another job one share."""
    table = """
    job_id  units  core  requested_time  exclusive
    1       1      3     10              no
    2       1      6     10              yes
    """
    found = aggregated(make_problem(SYSTEM, table))
    *_, shares = found.free[0].tolist()
    (one, whole) = (row[-1] for row in found.draws.tolist())
    # Node shares are 16 each on nodes of 6 + 10, in units of one share.
    assert (one, whole, shares) == (1, 16, 3 * 16)
