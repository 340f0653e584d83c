"""Schedules in which it matters what is free on which node."""

import pytest

from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, easy, lists, replay
from tests.golden.pictures import check, job

GPU_AND_CPU = System((NodeGroup("gpu", 1, {"core": 4, "gpu": 1}), NodeGroup("cpu", 1, {"core": 4})))
GPU_JOBS = (
    job("A", submit_time=0, units=1, run_time=4, unit_request=(4, 0)),
    job("B", submit_time=1, units=1, run_time=3, unit_request=(2, 1)),
    job("C", submit_time=1, units=1, run_time=6, unit_request=(4, 0)),
    job("D", submit_time=2, units=1, run_time=2, unit_request=(2, 0)),
    job("E", submit_time=3, units=1, run_time=5, unit_request=(1, 1)),
    job("F", submit_time=5, units=2, run_time=2, unit_request=(2, 0)),
)


def dispatchers(allocator="first-fit"):
    """Return EASY and the first-come list, which agree on all schedules here."""
    return pytest.mark.parametrize(
        "dispatcher", [easy(allocator), lists(allocator=allocator)], ids=["easy", "fcfs"]
    )


@dispatchers()
def test_a_gpu_job_behind_a_core_job(dispatcher):
    """First fit puts A on the node that has the GPU, where B has to wait for cores.

    C runs past B's shadow time at 4, but on the other node, so it need not wait. At 6 two cores
    are free, which is enough for one unit of F only.
    """
    check(
        GPU_AND_CPU,
        replay(GPU_AND_CPU, dispatcher, GPU_JOBS),
        """
        gpu-0 AAAABBBEEEEE
        gpu-0 AAAABBBFF...
        gpu-0 AAAADD.FF...
        gpu-0 AAAADD......
        cpu-0 .CCCCCCFF...
        cpu-0 .CCCCCCFF...
        cpu-0 .CCCCCC.....
        cpu-0 .CCCCCC.....
        """,
    )


@dispatchers("keep-scarce")
def test_a_gpu_that_is_kept_free(dispatcher):
    """With the GPU kept free for it B starts at once; E waits for the GPU, not for cores."""
    check(
        GPU_AND_CPU,
        replay(GPU_AND_CPU, dispatcher, GPU_JOBS),
        """
        gpu-0 .BBBEEEEEFF
        gpu-0 .BBB.....FF
        gpu-0 ..DD.....FF
        gpu-0 ..DD.....FF
        cpu-0 AAAACCCCCC.
        cpu-0 AAAACCCCCC.
        cpu-0 AAAACCCCCC.
        cpu-0 AAAACCCCCC.
        """,
    )


@dispatchers()
def test_units_that_share_nodes(dispatcher):
    """Units of A, D and E ask for one core, of B and C for two, of F for three.

    At 3 four cores are free, but only one unit of C fits: its shadow time is 5, when B ends. D and
    E end by then. At 5 C leaves a core on each node, and F waits for three on one.
    """
    system = alike(2, core=3)
    jobs = (
        job("A", submit_time=0, units=4, run_time=3),
        job("B", submit_time=0, units=1, run_time=5, unit_request=(2,)),
        job("C", submit_time=1, units=2, run_time=2, unit_request=(2,)),
        job("D", submit_time=1, units=1, run_time=2),
        job("E", submit_time=2, units=3, run_time=2),
        job("F", submit_time=2, units=1, run_time=4, unit_request=(3,)),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAADDCCFFFF
        node-0 AAAEECCFFFF
        node-0 AAAEE..FFFF
        node-1 AAAEECC....
        node-1 BBBBBCC....
        node-1 BBBBB......
        """,
    )


@dispatchers()
def test_exclusive_jobs(dispatcher):
    """B and D are alone on their nodes, so E waits for C to end, and F for B."""
    system = alike(3, core=2)
    jobs = (
        job("A", submit_time=0, units=1, run_time=6),
        job("B", submit_time=0, units=1, run_time=3, exclusive=True),
        job("C", submit_time=1, units=1, run_time=2),
        job("D", submit_time=1, units=2, run_time=3, exclusive=True),
        job("E", submit_time=1, units=1, run_time=4),
        job("F", submit_time=2, units=2, run_time=2),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAAAA.
        node-0 .CCEEEE
        node-1 BBBFF..
        node-1 ...FF..
        node-2 .DDD...
        node-2 .DDD...
        """,
    )


@dispatchers()
def test_an_exclusive_job_that_waits(dispatcher):
    """C has node-0 reserved for it from 4, when it is idle: D and F end by then, E would not."""
    system = alike(2, core=2, mem=8)
    jobs = (
        job("A", submit_time=0, units=1, run_time=4, unit_request=(1, 2)),
        job("B", submit_time=0, units=1, run_time=6, unit_request=(2, 1)),
        job("C", submit_time=1, units=1, run_time=3, unit_request=(1, 2), exclusive=True),
        job("D", submit_time=1, units=1, run_time=2, unit_request=(1, 2)),
        job("E", submit_time=2, units=1, run_time=5, unit_request=(1, 2)),
        job("F", submit_time=3, units=1, run_time=1, unit_request=(1, 2)),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAACCC....
        node-0 .DDF.......
        node-1 BBBBBBEEEEE
        node-1 BBBBBB.....
        """,
    )


@dispatchers()
def test_an_exclusive_job_that_waits_for_a_node_in_part_free(dispatcher):
    """At 4 node-0 has a core free, but is idle only from 6 on, which D would put off until 7."""
    system = alike(2, core=2)
    jobs = (
        job("A", submit_time=0, units=1, run_time=4),
        job("C", submit_time=0, units=1, run_time=6),
        job("F", submit_time=0, units=1, run_time=9, unit_request=(2,)),
        job("B", submit_time=1, units=1, run_time=1, unit_request=(2,), exclusive=True),
        job("D", submit_time=4, units=1, run_time=3),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAA..BDDD
        node-0 CCCCCCB...
        node-1 FFFFFFFFF.
        node-1 FFFFFFFFF.
        """,
    )


@dispatchers()
def test_units_on_nodes_of_their_own(dispatcher):
    """B, D and F have one unit per node: two units, which need a node each.

    A has all of node-0 until 3, so B and D wait, though node-1 has room for all of their units. C
    asks for as much as B, may share a node, and starts there. At 3 both nodes take a unit of B
    and of D, beside E. One core is left, of node-0: enough for G, which ends by the shadow time of
    F at 5, when B leaves a core on each.
    """
    system = alike(2, core=4)
    jobs = (
        job("A", submit_time=0, units=1, run_time=3, unit_request=(4,)),
        job("B", submit_time=1, units=2, run_time=2, one_unit_per_node=True),
        job("C", submit_time=1, units=2, run_time=2),
        job("D", submit_time=2, units=2, run_time=3, unit_request=(2,), one_unit_per_node=True),
        job("E", submit_time=2, units=1, run_time=5),
        job("F", submit_time=3, units=2, run_time=1, one_unit_per_node=True),
        job("G", submit_time=3, units=1, run_time=2),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAABBF.
        node-0 AAADDD.
        node-0 AAADDD.
        node-0 AAAGG..
        node-1 .CCBBF.
        node-1 .CCDDD.
        node-1 ..EEEEE
        node-1 ...DDD.
        """,
    )


@dispatchers()
def test_an_exclusive_job_with_one_unit_per_node(dispatcher):
    """B is exclusive, with one unit per node: it waits for two idle nodes and holds both whole."""
    system = alike(3, core=2)
    jobs = (
        job("A", submit_time=0, units=3, run_time=2),
        job("B", submit_time=0, units=2, run_time=3, exclusive=True, one_unit_per_node=True),
        job("C", submit_time=1, units=2, run_time=3),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AABBB
        node-0 AA...
        node-1 AABBB
        node-1 .....
        node-2 .CCC.
        node-2 .CCC.
        """,
    )


@dispatchers()
def test_room_on_a_node_that_two_jobs_leave_one_after_the_other(dispatcher):
    """H asks for a whole node. That is node-1 at 7, when B and C have both ended, not node-0 at 20.

    E takes its third core and ends at 6. D comes at 2 and could have B's core at 5, but would end
    at 8.
    """
    system = alike(2, core=3)
    jobs = (
        job("A", 0, 1, 20, unit_request=(3,)),
        job("B", 0, 1, 5),
        job("C", 0, 1, 7),
        job("H", 1, 1, 3, unit_request=(3,)),
        job("E", 1, 1, 5),
        job("D", 2, 1, 3),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAAAAAAAAAAAAAAAAAA
        node-0 AAAAAAAAAAAAAAAAAAAA
        node-0 AAAAAAAAAAAAAAAAAAAA
        node-1 BBBBB..HHHDDD.......
        node-1 CCCCCCCHHH..........
        node-1 .EEEEE.HHH..........
        """,
    )


@dispatchers()
def test_units_that_come_free_beside_others(dispatcher):
    """H asks for all four cores, which are free at 9: at 5 there is one more, and not four.

    So D, which ends at 8, delays nobody.
    """
    system = alike(1, core=4)
    jobs = (
        job("A", 0, 1, 5),
        job("B", 0, 1, 7),
        job("C", 0, 1, 9),
        job("H", 1, 4, 2),
        job("D", 1, 1, 7),
    )
    check(
        system,
        replay(system, dispatcher, jobs),
        """
        node-0 AAAAA....HH
        node-0 BBBBBBB..HH
        node-0 CCCCCCCCCHH
        node-0 .DDDDDDD.HH
        """,
    )
