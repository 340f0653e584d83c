"""Nine jobs on four nodes of one core, under each way of list scheduling.

Until second 4 all but the strict list do the same: A and B run, D fills the last core, and C, which
needs all four, waits. The lists differ in what they make of second 4, when A and D end while B runs
until 6, and C, E, F, G, H and I wait.
"""

import pytest

from tests.builders import alike, easy, lists, replay
from tests.golden.pictures import check, job

SYSTEM = alike(4, core=1)
JOBS = (
    job("A", submit_time=0, units=2, run_time=4),
    job("B", submit_time=0, units=1, run_time=6),
    job("C", submit_time=1, units=4, run_time=2),
    job("D", submit_time=1, units=1, run_time=3),
    job("E", submit_time=2, units=1, run_time=5),
    job("F", submit_time=2, units=2, run_time=1),
    job("G", submit_time=3, units=1, run_time=2),
    job("H", submit_time=3, units=3, run_time=2),
    job("I", submit_time=3, units=1, run_time=4),
)


def run(dispatcher):
    """Replay the nine jobs."""
    return replay(SYSTEM, dispatcher, JOBS, uniform_request=(1,))


@pytest.mark.parametrize("dispatcher", [easy(), lists("fcfs")], ids=["easy", "fcfs"])
def test_easy_and_fcfs(dispatcher):
    """C keeps its place at 6: F and G end by then, E and I would not."""
    check(
        SYSTEM,
        run(dispatcher),
        """
        node-0 AAAAF.CCEEEEE.
        node-1 AAAAF.CCHHIIII
        node-2 BBBBBBCCHH....
        node-3 .DDDGGCCHH....
        """,
    )


def test_shortest_job_first():
    """At 4 by run time, then demand: F (1), G and H and C (2; 1, 3, 4 cores), I (4), E (5)."""
    check(
        SYSTEM,
        run(lists("sjf")),
        """
        node-0 AAAAF.HHCCIIII.
        node-1 AAAAF.HHCCEEEEE
        node-2 BBBBBBHHCC.....
        node-3 .DDDGG..CC.....
        """,
    )


def test_longest_job_first():
    """At 0 B comes before A; at 4: E (5), I (4), C and H and G (2; 4, 3, 1 cores), F (1)."""
    check(
        SYSTEM,
        run(lists("ljf")),
        """
        node-0 BBBBBBF..CCHH
        node-1 AAAAEEEEECCHH
        node-2 AAAAIIII.CCHH
        node-3 .DDDGGF..CC..
        """,
    )


def test_smallest_area_first():
    """At 4 by area: F and G (2, in order of arrival), I (4), E (5), H (6), C (8)."""
    check(
        SYSTEM,
        run(lists("saf")),
        """
        node-0 BBBBBB...HHCC
        node-1 AAAAFIIIIHHCC
        node-2 AAAAFEEEEE.CC
        node-3 .DDDGG...HHCC
        """,
    )


def test_largest_area_first():
    """At 4 by area: C (8, not before 6), H (6, fits until 6), E (5), I (4), F and G (2)."""
    check(
        SYSTEM,
        run(lists("laf")),
        """
        node-0 AAAAHHCCEEEEE
        node-1 AAAAHHCCIIII.
        node-2 BBBBBBCCFGG..
        node-3 .DDDHHCCF....
        """,
    )


def test_smallest_area_times_time_first():
    """At 4: F (2), G (4), H (12), I and C (16; areas 4 and 8), E (25)."""
    check(
        SYSTEM,
        run(lists("spf")),
        """
        node-0 AAAAFIIIICCEEEEE
        node-1 AAAAF.HH.CC.....
        node-2 BBBBBBHH.CC.....
        node-3 .DDDGGHH.CC.....
        """,
    )


def test_strict():
    """Nothing passes C, though D would be no burden; nor H at 9, though I would fit."""
    check(
        SYSTEM,
        run(lists("fcfs", "strict")),
        """
        node-0 AAAA..CCDDDHHIIII
        node-1 AAAA..CCEEEEE....
        node-2 BBBBBBCCFGGHH....
        node-3 ......CCF..HH....
        """,
    )


def test_greedy():
    """C waits as long as anything smaller fits, and H behind it."""
    check(
        SYSTEM,
        run(lists("fcfs", "greedy")),
        """
        node-0 AAAAEEEEECCHH
        node-1 AAAAFGG..CCHH
        node-2 BBBBBB...CCHH
        node-3 .DDDFIIIICC..
        """,
    )
