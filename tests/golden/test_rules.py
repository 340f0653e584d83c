"""Schedules of the rules beyond list scheduling and EASY, each worked out by hand."""

from functools import partial

import pytest

from hpcsched.prediction.requested_time import RequestedTime
from tests.builders import alike, replay
from tests.dispatching.heuristic.making import conservative, easy, prb, relaxed, slack
from tests.golden.pictures import check, job
from tests.golden.test_one_resource_type import JOBS as NINE_JOBS

POOLED = pytest.mark.parametrize("uniform_request", [(1,), None], ids=["slots", "nodes"])


@POOLED
@pytest.mark.parametrize("make", [easy, partial(relaxed, 0.0)], ids=["easy", "relaxed by nothing"])
def test_easy_in_another_order(make, uniform_request):
    """Shortest first. At 4 F and G start; at 5 H is the head job, with a core to spare for I at 6.

    At 8 C is, which needs I to end at 9, so that E waits.
    """
    system = alike(4, core=1)
    recorder = replay(system, make(order="sjf"), NINE_JOBS, uniform_request=uniform_request)
    check(
        system,
        recorder,
        """
        node-0 AAAAFIIIICCEEEEE
        node-1 AAAAF.HH.CC.....
        node-2 BBBBBBHH.CC.....
        node-3 .DDDGGHH.CC.....
        """,
    )


@POOLED
@pytest.mark.parametrize("make", [easy, partial(relaxed, 0.0)], ids=["easy", "relaxed by nothing"])
def test_easy_with_another_order_behind_the_head_job(make, uniform_request):
    """At 4 C is the head job, for 6; of those that end by then H comes first, the largest."""
    system = alike(4, core=1)
    recorder = replay(system, make(behind="ljf"), NINE_JOBS, uniform_request=uniform_request)
    check(
        system,
        recorder,
        """
        node-0 AAAAHHCCEEEEE
        node-1 AAAAHHCCFIIII
        node-2 BBBBBBCCF....
        node-3 .DDDHHCCGG...
        """,
    )


@POOLED
def test_priority_rule(uniform_request):
    """Jobs of queue 1 are expected to wait for 20 s, of queue 2 for 100 s.

    At 10 C and D have waited 5/20, B 9/100; D comes first, as its area is smaller. At 14 there is
    no room for B, and E passes it.
    """
    system = alike(2, core=1)
    jobs = (
        job("A", 0, 2, 10),
        job("B", 1, 2, 2, queue=2),
        job("C", 5, 1, 6, queue=1),
        job("D", 5, 1, 4, queue=1),
        job("E", 13, 1, 2, queue=2),
    )
    check(
        system,
        replay(system, prb(), jobs, uniform_request=uniform_request),
        """
        node-0 AAAAAAAAAADDDDEEBB
        node-1 AAAAAAAAAACCCCCCBB
        """,
    )


RELAXED_JOBS = (
    job("A", 0, 2, 4),
    job("B", 1, 3, 2),
    job("C", 1, 1, 5),
    job("D", 4, 2, 2),
    job("E", 5, 2, 1),
)


@POOLED
def test_relaxed(uniform_request):
    """B, promised for 4, expects to wait for 3 s, and 0.7 of that is 2 s: C and D end by 6.

    So does E at no time: the 2 s are gone, and B starts at 6.
    """
    system = alike(3, core=1)
    check(
        system,
        replay(system, relaxed(0.7), RELAXED_JOBS, uniform_request=uniform_request),
        """
        node-0 AAAADDBBE
        node-1 AAAADDBBE
        node-2 .CCCCCBB.
        """,
    )


@POOLED
def test_less_relaxed(uniform_request):
    """Half of B's expected wait, in whole seconds, is 1 s, which is not enough for C."""
    system = alike(3, core=1)
    check(
        system,
        replay(system, relaxed(0.5), RELAXED_JOBS, uniform_request=uniform_request),
        """
        node-0 AAAABBCCCCC
        node-1 AAAABBDDE..
        node-2 ....BBDDE..
        """,
    )


PROMISED_JOBS = (job("A", 0, 2, 4), job("B", 1, 2, 2), job("C", 1, 3, 1), job("D", 1, 1, 8))
KEPT = """
    node-0 AAAABBCDDDDDDDD
    node-1 AAAABBC........
    node-2 ......C........
    """
PASSED = """
    node-0 AAAABB...C
    node-1 AAAABB...C
    node-2 .DDDDDDDDC
    """


@POOLED
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (easy, PASSED),
        (conservative, KEPT),
        (lambda: slack(0.5), KEPT),
        (lambda: slack(0.6), PASSED),
        (lambda: slack(least=2), KEPT),
        (lambda: slack(least=3), PASSED),
    ],
    ids=["easy", "conservative", "share 0.5", "share 0.6", "slack 2", "slack 3"],
)
def test_a_second_job_that_is_promised_a_start(make, expected, uniform_request):
    """B is the head job, for 4, and C is promised 6; D would end at 9.

    EASY lets D pass C, conservative backfilling does not. C is promised a wait of 5 s: with a slack
    of 3 s it can be put off until 9, with 2 s it cannot.
    """
    system = alike(3, core=1)
    recorder = replay(system, make(), PROMISED_JOBS, uniform_request=uniform_request)
    check(system, recorder, expected)


@POOLED
@pytest.mark.parametrize(
    ("compression", "first"),
    [("arrival", "ADDDEE..CCCCC"), ("reservation", "AEEDDD..CCCCC")],
)
def test_compression(compression, first, uniform_request):
    """C is promised 8, D 13, and E 6, the 2 s before C. At 1 A ends, 5 s early.

    In order of arrival D is moved to 1, then E to 4; in order of the starts E to 1, then D to 3.
    """
    system = alike(2, core=1)
    jobs = (
        job("A", 0, 1, 1, requested_time=6),
        job("B", 0, 1, 8),
        job("C", 0, 2, 5),
        job("D", 0, 1, 3),
        job("E", 0, 1, 2),
    )
    recorder = replay(
        system,
        conservative(compression),
        jobs,
        predictor=RequestedTime(),
        uniform_request=uniform_request,
    )
    check(system, recorder, f"node-0 {first}\nnode-1 BBBBBBBBCCCCC")
