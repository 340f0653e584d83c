"""Schedules of the rules beyond list scheduling and EASY, each worked out by hand."""

import pytest

from hpcsched.prediction.predictors import RequestedTime
from tests.builders import alike, replay
from tests.golden.declared import declared
from tests.golden.pictures import check, job
from tests.golden.test_one_resource_type import JOBS as NINE_JOBS

EASY_OR_RELAXED = pytest.mark.parametrize("name", ["name: easy", "name: relaxed, relaxation: 0"])
AGGREGATED = pytest.mark.parametrize("uniform_request", [(1,), None], ids=["slots", "nodes"])


@AGGREGATED
@EASY_OR_RELAXED
def test_easy_in_another_order(name, uniform_request):
    """Shortest first. At 4 F and G start; at 5 H is the head job, with a core to spare for I at 6.

    At 8 C is, which needs I to end at 9, so that E waits.
    """
    system = alike(4, core=1)
    dispatcher = declared(system, f"{{{name}, order: sjf}}")
    recorder = replay(system, dispatcher, NINE_JOBS, uniform_request=uniform_request)
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


@AGGREGATED
@EASY_OR_RELAXED
def test_easy_with_another_order_behind_the_head_job(name, uniform_request):
    """At 4 C is the head job, for 6; of those that end by then H comes first, the largest."""
    system = alike(4, core=1)
    dispatcher = declared(system, f"{{{name}, backfill_order: ljf}}")
    recorder = replay(system, dispatcher, NINE_JOBS, uniform_request=uniform_request)
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


@AGGREGATED
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
    waits = "{name: prb, expected_wait: {other: 60, by_queue: {1: 20, 2: 100}}}"
    check(
        system,
        replay(system, declared(system, waits), jobs, uniform_request=uniform_request),
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


@AGGREGATED
def test_relaxed(uniform_request):
    """B, promised for 4, expects to wait for 3 s, and 0.7 of that is 2 s: C and D end by 6.

    So does E at no time: the 2 s are gone, and B starts at 6.
    """
    system = alike(3, core=1)
    check(
        system,
        replay(
            system,
            declared(system, "{name: relaxed, relaxation: 0.7}"),
            RELAXED_JOBS,
            uniform_request=uniform_request,
        ),
        """
        node-0 AAAADDBBE
        node-1 AAAADDBBE
        node-2 .CCCCCBB.
        """,
    )


@AGGREGATED
@pytest.mark.parametrize("dispatcher", ["{name: relaxed, relaxation: 0.5}", "relaxed"])
def test_less_relaxed(dispatcher, uniform_request):
    """Half of B's expected wait, in whole seconds, is 1 s, which is not enough for C.

    Nor is a fifth, which is what holds where nothing is said.
    """
    system = alike(3, core=1)
    check(
        system,
        replay(system, declared(system, dispatcher), RELAXED_JOBS, uniform_request=uniform_request),
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


@AGGREGATED
@pytest.mark.parametrize(
    ("dispatcher", "expected"),
    [
        ("easy", PASSED),
        ("conservative", KEPT),
        ("slack", KEPT),
        ("{name: slack, share: 0.6}", PASSED),
        ("{name: slack, share: 0.4}", KEPT),
        ("{name: slack, share: 0, least_slack: 2}", KEPT),
        ("{name: slack, share: 0, least_slack: 3}", PASSED),
    ],
)
def test_a_second_job_that_is_promised_a_start(dispatcher, expected, uniform_request):
    """B is the head job, for 4, and C is promised 6; D would end at 9.

    EASY lets D pass C, conservative backfilling does not. C is promised a wait of 5 s: with a slack
    of 3 s it can be put off until 9, with 2 s it cannot. 0.4 of the wait is 2 s, and so is half of
    it in whole seconds, which is the slack where nothing is said.
    """
    system = alike(3, core=1)
    recorder = replay(
        system, declared(system, dispatcher), PROMISED_JOBS, uniform_request=uniform_request
    )
    check(system, recorder, expected)


@AGGREGATED
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
        declared(system, f"{{name: conservative, compression: {compression}}}"),
        jobs,
        predictor=RequestedTime(),
        uniform_request=uniform_request,
    )
    check(system, recorder, f"node-0 {first}\nnode-1 BBBBBBBBCCCCC")
