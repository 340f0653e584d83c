"""Limits of a cluster in a simulation: groups of jobs overlap, and running jobs count in them."""

from hpcsched.dispatching.problem import RunningJob
from hpcsched.simulation.limits import RecordedLimits
from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.group_limits import LimitedJob
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system

ANN = ClusterLimit("ann", "cpu", 4, "QOS small: MaxTRESPerUser cpu=4")
PHYSICS = ClusterLimit("physics", "node", 2, "account physics: GrpTRES node=2")
QUEUE = make_problem(
    make_system(4, core=4),
    """
    job_id units core requested_time
    1      1     2    9
    2      1     2    9
    3      1     2    9
    4      1     1    9
    """,
).queue  # fmt: skip


def limits() -> RecordedLimits:
    """Return limits of the jobs 1 to 3; job 4 has none."""
    return RecordedLimits(
        {
            1: LimitedJob("1", ("ann", "physics"), (ANN, PHYSICS), {"cpu": 2, "node": 1}),
            2: LimitedJob("2", ("ann",), (ANN,), {"cpu": 2, "node": 1}),
            3: LimitedJob("3", ("ann", "physics"), (PHYSICS,), {"cpu": 1, "node": 1}),
            4: LimitedJob("4", (), (), {}),
        }
    )


def running(job_id: int, node: int) -> RunningJob:
    """Return a job of the queue that runs on a node."""
    waiting = next(one for one in QUEUE if one.job_id == job_id)
    return RunningJob(9, job_id, 0, 1, NodeAllocation((node,), (1,)), waiting)


def test_accounts() -> None:
    """Jobs with groups are looked at together, the others by themselves."""
    found = limits()
    accounts = [found.account(one.job) for one in QUEUE]
    assert accounts[:3] == [accounts[0]] * 3
    assert accounts[0] is not None
    assert accounts[3] is None


def test_running_jobs_count() -> None:
    """With jobs 1 and 3 on two nodes and 3 CPUs in use, job 2 (2 CPUs) is beyond 4 CPUs."""
    found = limits()
    assert found.held_back(QUEUE) == {}
    found.started(running(1, 0))
    found.started(running(3, 1))
    assert found.held_back([one for one in QUEUE if one.job_id in {2, 4}]) == {2: ANN.name}
    found.ended(running(3, 1))
    assert found.held_back([one for one in QUEUE if one.job_id in {2, 4}]) == {}


def test_nodes_count_once() -> None:
    """Job 1 holds a node of the two: job 3 takes the other, by its limit of nodes."""
    found = limits()
    found.started(running(1, 0))
    assert found.held_back([one for one in QUEUE if one.job_id == 3]) == {}
    found.started(running(2, 1))  # not of physics
    assert found.held_back([one for one in QUEUE if one.job_id == 3]) == {}
