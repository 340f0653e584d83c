"""How many jobs get a reservation: seven jobs on five nodes of one core.

At 1 the cores 3 and 4 are free until A ends at 4, B (4 cores) and C (5 cores) come, and then D,
which would delay both, E, which would delay C alone, and F, which would delay neither.
"""

import pytest

from tests.builders import alike, easy, lists, replay
from tests.golden.pictures import check, job

SYSTEM = alike(5, core=1)
JOBS = (
    job("A", submit_time=0, units=3, run_time=4),
    job("B", submit_time=1, units=4, run_time=2),
    job("C", submit_time=1, units=5, run_time=3),
    job("D", submit_time=1, units=2, run_time=4),
    job("E", submit_time=2, units=1, run_time=10),
    job("F", submit_time=2, units=1, run_time=2),
    job("G", submit_time=5, units=2, run_time=1),
)


def run(dispatcher):
    """Replay the seven jobs."""
    return replay(SYSTEM, dispatcher, JOBS, uniform_request=(1,))


@pytest.mark.parametrize("option", [{"depth": 0}, {"option": "greedy"}])
def test_no_reservation(option):
    """Depth 0 is the greedy option: D delays B, and E delays C."""
    check(
        SYSTEM,
        run(lists("fcfs", **option)),
        """
        node-0 AAAAEEEEEEEEEECCC
        node-1 AAAAFFBB......CCC
        node-2 AAAA.GBB......CCC
        node-3 .DDDDGBB......CCC
        node-4 .DDDD.BB......CCC
        """,
    )


@pytest.mark.parametrize("dispatcher", [easy(), lists(depth=1)], ids=["easy", "depth 1"])
def test_one_reservation(dispatcher):
    """B starts at 4 as reserved, beside E, which takes the one core that B leaves spare."""
    check(
        SYSTEM,
        run(dispatcher),
        """
        node-0 AAAABBDDDD..CCC
        node-1 AAAABBDDDD..CCC
        node-2 AAAABBG.....CCC
        node-3 ..EEEEEEEEEECCC
        node-4 ..FFBBG.....CCC
        """,
    )


@pytest.mark.parametrize("depth", [2, None])
def test_two_reservations(depth):
    """C starts at 6 as reserved, so only F passes it."""
    check(
        SYSTEM,
        run(lists(depth=depth)),
        """
        node-0 AAAABBCCCDDDD......
        node-1 AAAABBCCCDDDD......
        node-2 AAAABBCCCEEEEEEEEEE
        node-3 ..FFBBCCCG.........
        node-4 ......CCCG.........
        """,
    )
