"""How many jobs get a reservation: seven jobs on five nodes of one core.

At 1 the cores 3 and 4 are free until A ends at 4, B (4 cores) and C (5 cores) come, and then D,
which would delay both, E, which would delay C alone, and F, which would delay neither.
"""

import pytest

from tests.builders import alike, replay
from tests.golden.declared import declared
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
    return replay(SYSTEM, declared(SYSTEM, dispatcher), JOBS, uniform_request=(1,))


@pytest.mark.parametrize("option", ["depth: 0", "option: greedy"])
def test_no_reservation(option):
    """Depth 0 is the greedy option: D delays B, and E delays C."""
    check(
        SYSTEM,
        run(f"{{name: list, {option}}}"),
        """
        node-0 AAAAEEEEEEEEEECCC
        node-1 AAAAFFBB......CCC
        node-2 AAAA.GBB......CCC
        node-3 .DDDDGBB......CCC
        node-4 .DDDD.BB......CCC
        """,
    )


@pytest.mark.parametrize("dispatcher", ["easy", "{name: list, depth: 1}"])
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


@pytest.mark.parametrize("depth", ["2", "null"])
def test_two_reservations(depth):
    """C starts at 6 as reserved, so only F passes it."""
    check(
        SYSTEM,
        run(f"{{name: list, depth: {depth}}}"),
        """
        node-0 AAAABBCCCDDDD......
        node-1 AAAABBCCCDDDD......
        node-2 AAAABBCCCEEEEEEEEEE
        node-3 ..FFBBCCCG.........
        node-4 ......CCCG.........
        """,
    )


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (2, ("AAAABC...D", "AAAABC...D", "AAAABC...D", ".EEEEEEEED")),
        (3, ("AAAABCDEEEEEEEE", "AAAABCD........", "AAAABCD........", "......D........")),
    ],
)
def test_the_third_reservation(depth, expected):
    """B is reserved for 4, C for 5, and D, which needs all four cores, for 6, or not at all.

    E, of 8 s, fits beside B and C.
    """
    system = alike(4, core=1)
    jobs = (job("A", 0, 3, 4), job("B", 1, 3, 1), job("C", 1, 3, 1), job("D", 1, 4, 1))
    dispatcher = declared(system, f"{{name: list, depth: {depth}}}")
    recorder = replay(system, dispatcher, (*jobs, job("E", 1, 1, 8)), uniform_request=(1,))
    check(system, recorder, "\n".join(f"node-{k} {row}" for k, row in enumerate(expected)))
