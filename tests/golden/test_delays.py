"""How late a reservation may come: relaxed, conservative and slack-based backfilling, by hand."""

import pytest

from hpcsched.prediction.predictors import RequestedTime
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from hpcsched.workload.job import TracedJob
from tests.builders import Told, alike, replay
from tests.golden.declared import declared
from tests.golden.pictures import check, job
from tests.golden.test_rules import KEPT, PASSED, PROMISED_JOBS

EACH_WITH_PROMISES = pytest.mark.parametrize("dispatcher", ["conservative", "slack"])
EACH_THAT_RESERVES = [
    *("easy", "conservative", "list", "slurm-backfill"),
    "{name: slack, share: 0, least_slack: 0}",
]
SLOTS_AND_NODES = pytest.mark.parametrize("request_of_all", [(1,), None], ids=["slots", "nodes"])


def expect(
    system: System, dispatcher: str, jobs: tuple[TracedJob, ...], expected: str, **more: object
) -> None:
    """Compare the schedule of a dispatcher, which goes by requested times, with a picture."""
    given = {"predictor": RequestedTime(), **more}
    check(system, replay(system, declared(system, dispatcher), jobs, **given), expected)


@SLOTS_AND_NODES
@pytest.mark.parametrize(
    ("share", "least", "expected"),
    [(0.4, 0, KEPT), (0, 1, KEPT), (0.4, 1, PASSED), (0.2, 1, KEPT), (0.2, 2, PASSED)],
)
def test_slack_is_the_sum_of_both_terms(share, least, expected, request_of_all):
    """B is promised 4, when A ends, and C 6, when B does. D would run from 1 to 9.

    C came at 1, which is a wait of 5 s. It would have to wait for 3 s more.

    Its slack is least + share × 5: 0 + 2, 1 + 0, 1 + 2 = 3, 1 + 1, and 2 + 1 = 3.
    """
    dispatcher = f"{{name: slack, share: {share}, least_slack: {least}}}"
    expect(alike(3, core=1), dispatcher, PROMISED_JOBS, expected, uniform_request=request_of_all)


@SLOTS_AND_NODES
def test_slack_counts_from_the_first_promise(request_of_all):
    """B is promised 4 and has 2 s of slack, which C, of 4 s, takes up at 2: B is put off until 6.

    At 4 D would put it off until 7. If slack counted from where B is now, it could.
    """
    expect(
        alike(2, core=1),
        "{name: slack, share: 0, least_slack: 2}",
        (job("A", 0, 1, 4), job("B", 1, 2, 1), job("C", 2, 1, 4), job("D", 4, 1, 3)),
        """
        node-0 AAAA..BDDD
        node-1 ..CCCCB...
        """,
        uniform_request=request_of_all,
    )


# A asks for 8 s and ends at 2, so that B, promised 8, can be had at 4, when D ends. E comes at 3.
EARLY = (job("A", 0, 2, 2, requested_time=8), job("B", 0, 3, 1), job("D", 0, 1, 4))


def early(seconds: int) -> tuple[TracedJob, ...]:
    """Return the jobs in order of their submission, E with a run time."""
    return *EARLY, job("E", 3, 1, seconds)


@SLOTS_AND_NODES
@pytest.mark.parametrize("predicted", [4, 2])
def test_conservative_compresses_when_a_job_has_ended_early(predicted, request_of_all):
    """At 2 B is moved to 4, though nothing starts then. So E waits, as it would end at 8.

    Were B still reserved for 8, E would be in nobody's way. With D predicted to end at 2, B is
    moved to 3 at first, and then on to 4.
    """
    expect(
        alike(3, core=1),
        "conservative",
        early(5),
        """
        node-0 AA..BEEEEE
        node-1 AA..B.....
        node-2 DDDDB.....
        """,
        predictor=Told({1: 8, 2: 1, 4: predicted, 5: 5}),
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_no_slack_goes_back_to_the_promise(request_of_all):
    """B, at 4 by now, was promised 8. E would end at 8 and starts; if it ended at 9, it waits."""
    dispatcher = "{name: slack, share: 0, least_slack: 0}"
    expect(
        alike(3, core=1),
        dispatcher,
        early(5),
        """
        node-0 AA.EEEEEB
        node-1 AA......B
        node-2 DDDD....B
        """,
        uniform_request=request_of_all,
    )
    expect(
        alike(3, core=1),
        dispatcher,
        early(6),
        """
        node-0 AA..BEEEEEE
        node-1 AA..B......
        node-2 DDDDB......
        """,
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_conservative_moves_broken_promises_by_no_more_than_it_must(request_of_all):
    """A is predicted to end at 2 and runs until 6. B was promised 2, C 3 and D 5.

    From 2 on A is said to end a second from now. So at 2 B is moved to 3, C to 4 and D to 6, a
    second each, and so on until A has ended. Nobody passes another.
    """
    expect(
        alike(2, core=1),
        "conservative",
        (job("A", 0, 1, 6), job("B", 0, 2, 1), job("C", 0, 2, 2), job("D", 0, 1, 3)),
        """
        node-0 AAAAAABCCDDD
        node-1 ......BCC...
        """,
        predictor=Told({1: 2, 2: 1, 3: 2, 4: 3}),
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (2, ("AAAADDBB", "AAAADDBB", ".CCCCCBB")),
        (3, ("AAAA..BBDDD", "AAAA..BBDDD", ".CCCCCBB...")),
    ],
)
def test_relaxed_counts_from_the_promise(seconds, expected, request_of_all):
    """B came at 1 and is promised 4, a wait of 3 s. ω is 0.7: 0.7 × 3 = 2.1, so 6 is the latest.

    C ends at 6, which makes that the shadow time. At 4 D may end at 6, and not at 7: neither is the
    delay counted from 6, nor is the wait, which would be 5 s, of which 0.7 are 3.
    """
    lines = "\n".join(f"node-{k} {row}" for k, row in enumerate(expected))
    jobs = (job("A", 0, 2, 4), job("B", 1, 3, 2), job("C", 1, 1, 5), job("D", 4, 2, seconds))
    expect(
        alike(3, core=1),
        "{name: relaxed, relaxation: 0.7}",
        jobs,
        lines,
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_relaxed_by_the_earliest_promise(request_of_all):
    """B is promised 9, and then 5, as A has ended at 3: a wait of 4 s, and ω is a half. So until 7.

    D ends by then, E at 8. Had the promise stayed at 9, B could be put off until 9 + 4.
    """
    expect(
        alike(3, core=1),
        "{name: relaxed, relaxation: 0.5}",
        (
            job("A", 0, 2, 3, requested_time=9),
            job("C", 0, 1, 5),
            job("B", 1, 3, 1),
            job("D", 3, 1, 4),
            job("E", 3, 1, 5),
        ),
        """
        node-0 AAADDDDBEEEEE
        node-1 AAA....B.....
        node-2 CCCCC..B.....
        """,
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_relaxed_where_the_shadow_time_is_later_than_that(request_of_all):
    """A is predicted to end at 2 and runs until 6. B is promised 2, and ω = 1 makes it 3.

    At 4 A is said to end at 5. B cannot start before, so that D, of one second, takes nothing from
    it.
    """
    expect(
        alike(2, core=1),
        "{name: relaxed, relaxation: 1}",
        (job("A", 0, 1, 6), job("B", 1, 2, 2), job("D", 4, 1, 1)),
        """
        node-0 AAAAAABB
        node-1 ....D.BB
        """,
        predictor=Told({1: 2, 2: 2, 4: 1}),
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_relaxed_makes_a_promise_when_nobody_else_waits(request_of_all):
    """A is predicted to end at 4 and runs until 9. B, alone in the queue at 1, is promised 4.

    ω = 1 makes that 7. At 5, when A is said to end at 6, D would end at 8 and waits. Had B been
    promised 6 only now, for a wait of 5 s, it could be put off until 11.
    """
    expect(
        alike(2, core=1),
        "{name: relaxed, relaxation: 1}",
        (job("A", 0, 1, 9), job("C", 0, 1, 3), job("B", 1, 2, 1), job("D", 5, 1, 3)),
        """
        node-0 AAAAAAAAABDDD
        node-1 CCC......B...
        """,
        predictor=Told({1: 4, 2: 1, 3: 3, 4: 3}),
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
@pytest.mark.parametrize(
    ("compression", "expected"),
    [
        ("arrival", ("AABCCFDDDDDD", "AABEEFDDDDDD", "AAB...DDDDDD")),
        ("reservation", ("AABCCDDDDDDF", "AABEEDDDDDDF", "AAB..DDDDDD.")),
    ],
)
def test_slack_compresses_in_either_order(compression, expected, request_of_all):
    """B asks for 2 s and ends at 3, after one. C and E are promised 4, and D 6, when they end.

    At 3, in order of arrival, D cannot be moved for E, which is moved only then; in order of the
    starts E is first, and D moved to 5. F comes at 4 and is promised 5 or 11.
    """
    lines = "\n".join(f"node-{k} {row}" for k, row in enumerate(expected))
    expect(
        alike(3, core=1),
        f"{{name: slack, share: 0, compression: {compression}}}",
        (
            job("A", 0, 3, 2),
            job("B", 0, 3, 1, requested_time=2),
            job("C", 1, 1, 2),
            job("D", 2, 3, 6),
            job("E", 2, 1, 2),
            job("F", 4, 2, 1),
        ),
        lines,
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_room_that_is_left_by_one_of_several_jobs_that_start(request_of_all):
    """At 1 B is promised 6, C 10, D 16, and E starts as it comes. C may put B off until 7.

    It leaves the 6 s from 10 on, and D is moved to 11. So F, of 2 s, is promised 14. At 6 it would
    put B off by a second, and then there would be no room for B before D: it waits. Were D still at
    16, B could be put off until 8.
    """
    expect(
        alike(3, core=1),
        "{name: slack, share: 0, least_slack: 3}",
        (
            job("A", 0, 1, 6),
            job("B", 1, 3, 4),
            job("C", 1, 1, 6),
            job("D", 1, 3, 3),
            job("E", 1, 1, 5),
            job("F", 2, 1, 2),
        ),
        """
        node-0 AAAAAA.BBBBDDDFF
        node-1 .CCCCCCBBBBDDD..
        node-2 .EEEEE.BBBBDDD..
        """,
        uniform_request=request_of_all,
    )


@SLOTS_AND_NODES
def test_a_job_that_starts_once_another_has_left_its_reservation(request_of_all):
    """At 2 B is promised 3, C and D 8, and B may be put off until 11.

    C would put B off past D, until 14. D puts B off past C, until 11, and starts. Now C, with D no
    longer at 8, is moved to the present and starts too.
    """
    expect(
        alike(4, core=1),
        "{name: slack, share: 0, least_slack: 8}",
        (job("A", 0, 1, 3), job("B", 0, 4, 5), job("C", 2, 1, 3), job("D", 2, 1, 6)),
        """
        node-0 AAA.....BBBBB
        node-1 ..DDDDDDBBBBB
        node-2 ..CCC...BBBBB
        node-3 ........BBBBB
        """,
        uniform_request=request_of_all,
    )


OUTLIVED = """
    job_id  submit_time  units  requested_time  predicted_run_time  start_time
    1       0            1      8               FIRST               0
    2       0            1      8               8                   0
    3       0            1      4               4                   -
    4       0            2      2               2                   -
    5       0            1      1               1                   -
    6       0            2      1               1                   -
    7       0            1      1               1                   -
"""


@pytest.mark.parametrize("aggregated", [True, False], ids=["slots", "nodes"])
def test_broken_promises_are_moved_later_and_then_compressed(aggregated):
    """Job 1 is predicted to end at 4, and a second later at 6.

    3 is promised 4, 4 is promised 8, 5 and 7 are promised 10, and 6 is promised 11. In this order 3
    is moved to 6, so that it ends at 10, 4 to 10, 5 and 7 to 12, and 6 to 13. Then, in order of
    arrival, 5 is moved to 8, when 2 ends; 6 stays, for 7 has a core at 12; and 7 is moved to 9.
    """
    system = alike(2, core=1)
    dispatcher = declared(system, "conservative")
    times = []
    for now, first in ((0, 4), (1, 6)):
        table = OUTLIVED.replace("FIRST", str(first))
        problem = make_problem(system, table, now=now, aggregated=aggregated)._replace(explain=True)
        times.append(
            {reason.job_id: reason.time for reason in dispatcher.dispatch(problem).reasons}
        )
    assert times[0] == {3: 4, 4: 8, 5: 10, 6: 11, 7: 10}
    assert times[1] == {3: 6, 4: 10, 5: 8, 6: 13, 7: 9}


# Room that nobody foresaw: who gets it.


@EACH_WITH_PROMISES
@SLOTS_AND_NODES
@pytest.mark.parametrize("submitted", [5, 6])
def test_room_of_a_job_that_ends_early_goes_to_who_waits(dispatcher, submitted, request_of_all):
    """At 5 A ends, which asked for 10 s. B is promised 10, and is moved to 5 before C is admitted.

    C is promised 15, whether it is submitted in that very second or in the next.
    """
    expect(
        alike(2, core=1),
        dispatcher,
        (
            job("A", 0, 2, 5, requested_time=10),
            job("B", 1, 2, 10),
            job("C", submitted, 1, 5),
        ),
        """
        node-0 AAAAABBBBBBBBBBCCCCC
        node-1 AAAAABBBBBBBBBB.....
        """,
        uniform_request=request_of_all,
    )


@EACH_WITH_PROMISES
@pytest.mark.parametrize("kind", ["failure", "maintenance"])
def test_a_node_that_is_back_goes_to_who_waits(dispatcher, kind):
    """Node 2 is out of service until 10. B is promised 20, when A ends, and is moved to 10.

    C is submitted in that second, and is promised 15.
    """
    expect(
        alike(3, core=1),
        dispatcher,
        (job("A", 0, 2, 20), job("B", 1, 1, 5), job("C", 10, 1, 5)),
        """
        node-0 AAAAAAAAAAAAAAAAAAAA
        node-1 AAAAAAAAAAAAAAAAAAAA
        node-2 ..........BBBBBCCCCC
        """,
        outages=Outages((Outage(0, 10, (2,), kind),)),
    )


@EACH_WITH_PROMISES
def test_a_reservation_that_is_lost_leaves_its_room_to_who_waits(dispatcher):
    """Node 1 fails from 11 to 22. B, of 10 s on both nodes, is promised 12, and C 22.

    At 11 it is not known when B could start, and it is held back until 22. C takes its room: it is
    moved to 12, when A ends. Then D, which is submitted at 11, is promised 52. At 22 it is moved to
    node 1, which is back, and B is promised a start anew: 52, when C ends.
    """
    expect(
        alike(2, core=1),
        dispatcher,
        (job("A", 0, 1, 12), job("B", 8, 2, 10), job("C", 9, 1, 40), job("D", 11, 1, 12)),
        """
        node-0 AAAAAAAAAAAACCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCBBBBBBBBBB
        node-1 ......................DDDDDDDDDDDD..................BBBBBBBBBB
        """,
        outages=Outages((Outage(11, 22, (1,), "failure"),)),
    )


def test_power_that_is_not_drawn_goes_to_who_waits():
    """There are 40 W, and a node that is on draws 10 W; a job is reserved what it may draw at most.

    A and B may each use two nodes, 20 W, and start at 0 on one, 10 W. C may draw 30 W. It is
    promised 20, when B ends; once A and B have started it can be had at 15, when A ends. D is
    submitted at 3 and has 20 W until 15, and 0 W from then on: it is promised 20, when C ends. At
    15 C draws 20 W, so that D starts.
    """
    power = SharedResource("power", 40, Draw(per_node=10))
    system = System((NodeGroup("node", 3, {"core": 2}),), {}, (power,))
    expect(
        system,
        "conservative",
        (job("A", 0, 2, 15), job("B", 0, 2, 20), job("C", 0, 3, 5), job("D", 3, 1, 17)),
        """
        node-0 AAAAAAAAAAAAAAACCCCC............
        node-0 AAAAAAAAAAAAAAACCCCC............
        node-1 BBBBBBBBBBBBBBBBBBBB............
        node-1 BBBBBBBBBBBBBBBBBBBB............
        node-2 ...............CCCCC............
        node-2 ...............DDDDDDDDDDDDDDDDD
        """,
    )


@pytest.mark.parametrize("dispatcher", EACH_THAT_RESERVES)
def test_a_job_that_waits_for_the_end_of_maintenance_has_a_reservation(dispatcher):
    """The example of the documentation: node 2 is serviced from 8 to 12, and A needs all nodes.

    A would run into maintenance. It is reserved 12, so that B and C wait, which would run beyond.
    """
    expect(
        alike(3, core=1),
        dispatcher,
        (job("A", 0, 3, 10), job("B", 1, 1, 12), job("C", 4, 1, 12), job("D", 12, 1, 2)),
        """
        node-0 ............AAAAAAAAAABBBBBBBBBBBB
        node-1 ............AAAAAAAAAACCCCCCCCCCCC
        node-2 ............AAAAAAAAAADD..........
        """,
        outages=Outages((Outage(8, 12, (2,), "maintenance"),)),
    )


@pytest.mark.parametrize("dispatcher", ["{name: list, option: greedy}", "order-search"])
def test_a_job_that_waits_for_the_end_of_maintenance_is_passed(dispatcher):
    """Without reservations, or where that is better for the mean response time."""
    expect(
        alike(3, core=1),
        dispatcher,
        (job("A", 0, 3, 10), job("B", 1, 1, 12), job("C", 4, 1, 12), job("D", 12, 1, 2)),
        """
        node-0 .BBBBBBBBBBBB...AAAAAAAAAA
        node-1 ....CCCCCCCCCCCCAAAAAAAAAA
        node-2 ............DD..AAAAAAAAAA
        """,
        outages=Outages((Outage(8, 12, (2,), "maintenance"),)),
    )
