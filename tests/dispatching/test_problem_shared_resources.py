"""Shared resources as dispatchers see them."""

from itertools import islice

from hpcsched.dispatching.problem import shared_resources_of
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem, make_system

POWER = SharedResource("power", 100, Draw({"core": 10}, per_node=5), (Change(20, 40),))
SYSTEM = System((NodeGroup("node", 2, {"core": 4}),), shared_resources=(POWER,))


def test_free_amounts_and_draws() -> None:
    """Job 1 runs 3 units on node 0: 3 · 10 + 5 = 35, so that 65 are free.

    Job 2 may be spread over two nodes: 2 · 10 + 2 · 5 = 30.
    """
    shared = shared_resources_of(
        make_problem(
            SYSTEM,
            """
            job_id  units  run_time  start_time
            1       3      50        4
            2       2      10        -
            """,
        )
    )
    assert shared is not None
    assert shared.names == ("power",)
    assert shared.free.tolist() == [65]
    assert shared.draws.tolist() == [[30]]
    assert shared.allocated.tolist() == [[35]]
    assert list(islice(shared.capacity_from_now(), 2)) == [(4, (100,)), (20, (40,))]


def test_free_amounts_may_be_negative() -> None:
    """From 20 on the capacity is 40, and two jobs draw 4 · 10 + 5 each."""
    shared = shared_resources_of(
        make_problem(
            SYSTEM,
            """
            job_id  units  run_time  start_time
            1       4      50        0
            2       4      50        0
            """,
            now=25,
        )
    )
    assert shared is not None
    assert shared.free.tolist() == [40 - 90]


def test_a_system_without_shared_resources() -> None:
    """There is nothing to see."""
    problem = make_problem(make_system(1, core=4), "job_id run_time\n1 10")
    assert shared_resources_of(problem) is None
