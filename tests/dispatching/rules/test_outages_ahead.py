"""Reservations keep clear of announced outages, also of those that come after now."""

from typing import Any

import pytest

from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.system.outages import Outage, Outages
from hpcsched.testing import make_problem, make_system
from tests.builders import (
    alike,
    conservative_rule,
    easy,
    lists,
    relaxed_rule,
    replay,
    slack_rule,
    traced,
)

WINDOW = Outage(60, 70, (0, 1), "maintenance")


@pytest.mark.parametrize(
    "make",
    [
        lists,
        lambda: conservative_rule(FirstFit()),
        lambda: slack_rule(FirstFit(), 0.0, 0),
        easy,
        lambda: relaxed_rule(FirstFit(), 0.0, ArrivalOrder()),
    ],
    ids=["list", "conservative", "slack", "easy", "relaxed"],
)
def test_no_room_is_kept_where_there_will_be_none(make: Any) -> None:
    """Job 2 needs both nodes for 20 s, from 50 on, and they are serviced from 60 to 70.

    So its reservation is at 70, and job 3, which came later and needs one node for 55 s, is in
    nobody's way. Without the outage, job 3 would delay job 2 from 50 to 56.
    """
    jobs = [traced(1, 0, 1, 50), traced(2, 1, 2, 20), traced(3, 1, 1, 55)]
    recorder = replay(alike(2, core=1), make(), jobs, outages=Outages((WINDOW,)))
    assert recorder.start_times == {1: 0, 2: 70, 3: 1}
    recorder = replay(alike(2, core=1), make(), jobs)
    assert recorder.start_times == {1: 0, 2: 50, 3: 70}


TABLE = """
job_id  submit_time  units  requested_time  start_time
1       0            1      50              0
2       1            2      20              -
3       1            1      30              -
"""


@pytest.mark.parametrize(
    ("closed", "time", "place"),
    [((), 50, (2,)), ((2,), 50, (2,)), ((0,), 50, None), ((0, 1), 90, (2,))],
)
def test_a_shadow_with_outages(
    closed: tuple[int, ...], time: int, place: tuple[int, ...] | None
) -> None:
    """The head job's time and nodes keep clear of an outage, and backfilling of both.

    Of three nodes job 1 has two until 50, and job 2 needs two for 20 s. Job 3 would hold node 2
    until 56. If node 2 is serviced from 60 to 90, it is none of the head job's, and job 3 may have
    it. If node 0 is, the head job needs the other two at 50. If nodes 0 and 1 are, it has to wait
    until 90, and job 3 ends before.
    """
    table = TABLE.replace("1       0            1", "1       0            2")
    table = table.replace("30              -", "55              -")
    outages = (Outage(60, 90, closed, "maintenance"),)
    problem = make_problem(make_system(3), table, now=1)._replace(outages=outages, explain=True)
    decision = easy().dispatch(problem)
    assert {reason.job_id: reason.time for reason in decision.reasons}[2] == time
    started = {start.job_id: start.allocation.nodes for start in decision.starts}
    assert started == ({} if place is None else {3: place})
