"""Slurm's two schedulers: three jobs on three cores, of which the second waits for all of them.

A takes two cores from 0 to 10. B comes at 1 and asks for all three, so that it is planned for 10. C
comes at 2 and asks for the free one.
"""

import pytest

from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, replay
from tests.golden.declared import declared
from tests.golden.pictures import check, job

SYSTEM = alike(3, core=1)
EACH_SECOND = "bf_interval: 1, bf_resolution: 1"


def run(parameters, run_time, *others, partition=None, user=None):
    """Replay A, B and C, and others."""
    jobs = (
        job("A", submit_time=0, units=2, run_time=10, partition=0),
        job("B", submit_time=1, units=3, run_time=2, partition=0, user=1),
        job("C", submit_time=2, units=1, run_time=run_time, partition=partition or 0, user=user),
        *others,
    )
    dispatcher = declared(SYSTEM, f"{{name: slurm-backfill, {parameters}}}")
    return replay(SYSTEM, dispatcher, jobs, uniform_request=(1,))


def test_interval():
    """The round of backfilling at 1 is for B; C is tried 5 s later, although nothing happens."""
    check(
        SYSTEM,
        run("bf_interval: 5, bf_resolution: 1", 4),
        """
        node-0 AAAAAAAAAABB
        node-1 AAAAAAAAAABB
        node-2 ......CCCCBB
        """,
    )


def test_each_second():
    """C is tried when it comes."""
    check(
        SYSTEM,
        run(EACH_SECOND, 4),
        """
        node-0 AAAAAAAAAABB
        node-1 AAAAAAAAAABB
        node-2 ..CCCC....BB
        """,
    )


@pytest.mark.parametrize("resolution", [1, 5])
def test_an_end_at_a_reservation(resolution):
    """C ends at 10, a multiple of the resolution, when B starts."""
    check(
        SYSTEM,
        run(f"bf_interval: 1, bf_resolution: {resolution}", 8),
        """
        node-0 AAAAAAAAAABB
        node-1 AAAAAAAAAABB
        node-2 ..CCCCCCCCBB
        """,
    )


def test_resolution():
    """The end of C is taken to be 12, and that of B's reservation begins at 10."""
    check(
        SYSTEM,
        run("bf_interval: 1, bf_resolution: 4", 8),
        """
        node-0 AAAAAAAAAABBCCCCCCCC
        node-1 AAAAAAAAAABB........
        node-2 ..........BB........
        """,
    )


def test_window():
    """B is planned for 10, 9 s after its submission and 8 s after that of C.

    At 2, a window of 8 s reaches to 10, and one of 7 s does not.
    """
    check(
        SYSTEM,
        run(f"{EACH_SECOND}, bf_window: 8", 10),
        """
        node-0 AAAAAAAAAABBCCCCCCCCCC
        node-1 AAAAAAAAAABB..........
        node-2 ..........BB..........
        """,
    )
    check(
        SYSTEM,
        run(f"{EACH_SECOND}, bf_window: 7", 10),
        """
        node-0 AAAAAAAAAA..BB
        node-1 AAAAAAAAAA..BB
        node-2 ..CCCCCCCCCCBB
        """,
    )


def test_jobs_tried():
    """One job per round: C is not tried while B waits."""
    check(
        SYSTEM,
        run(f"{EACH_SECOND}, bf_max_job_test: 1", 4),
        """
        node-0 AAAAAAAAAABBCCCC
        node-1 AAAAAAAAAABB....
        node-2 ..........BB....
        """,
    )


def test_jobs_of_a_user():
    """One job of each user: C is not tried if it is of B's user, 1, and D of user 2 is."""
    other = job("D", submit_time=3, units=1, run_time=3, partition=0, user=2)
    check(
        SYSTEM,
        run(f"{EACH_SECOND}, bf_max_job_user: 1", 4, other, user=1),
        """
        node-0 AAAAAAAAAABBCCCC
        node-1 AAAAAAAAAABB....
        node-2 ...DDD....BB....
        """,
    )


def test_other_partition():
    """The main scheduler keeps C from nodes that B may use, also if its partition is another."""
    check(
        SYSTEM,
        run("bf_interval: 100", 10, partition=1),
        """
        node-0 AAAAAAAAAABBCCCCCCCCCC
        node-1 AAAAAAAAAABB..........
        node-2 ..........BB..........
        """,
    )


def test_node_of_another_partition():
    """B may not use the last node, where C starts at once, and not on the first free one."""
    system = System(
        (NodeGroup("node", 3, {"core": 1, "gpu": 1}), NodeGroup("thin", 1, {"core": 1}))
    )
    jobs = (
        job("A", submit_time=0, units=2, run_time=10, partition=0, unit_request=(1, 1)),
        job("B", submit_time=1, units=3, run_time=2, partition=0, unit_request=(1, 1)),
        job("C", submit_time=2, units=1, run_time=10, partition=1, unit_request=(1, 0)),
    )
    dispatcher = declared(system, "{name: slurm-backfill, bf_interval: 100, allocator: first-fit}")
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAAAAAAAABB
        node-1 AAAAAAAAAABB
        node-2 ..........BB
        thin-0 ..CCCCCCCCCC
        """,
    )


def test_queue_depth():
    """The main scheduler looks at B alone, and backfilling waits for 100 s."""
    check(
        SYSTEM,
        run("bf_interval: 100, default_queue_depth: 1", 10, partition=1),
        """
        node-0 AAAAAAAAAABBCCCCCCCCCC
        node-1 AAAAAAAAAABB..........
        node-2 ..........BB..........
        """,
    )
