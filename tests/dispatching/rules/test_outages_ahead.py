"""Reservations keep clear of announced outages, also of those that come after now."""

from typing import Any

import pytest

from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.system.outages import Outage, Outages
from hpcsched.testing import make_problem, make_system
from tests.builders import (
    alike,
    conservative_rule,
    easy,
    lists,
    parts,
    relaxed_rule,
    replay,
    slack_rule,
    slurm_backfill_rule,
    traced,
)
from tests.dispatching.offline.test_order_search_dispatcher import order_search
from tests.golden.declared import declared
from tests.simulation.replays import by_the_core, event_by_event

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


RESERVING = {
    "easy": easy,
    "relaxed": lambda: relaxed_rule(FirstFit(), 0.0, ArrivalOrder()),
    "conservative": lambda: conservative_rule(FirstFit()),
    "slack": lambda: slack_rule(FirstFit(), 0.0, 0),
    "list": lists,
    "committed-backfill": lambda: lists(option="committed-backfill"),
    "slurm-backfill": lambda: slurm_backfill_rule(
        ArrivalOrder(), FirstFit(), SlurmBackfillParams(bf_resolution=1, bf_interval=1)
    ),
    "order-search": order_search,
}
SERVICE = Outage(20, 200, (3,), "maintenance", "service")
WHOLE = traced(1, 0, 4, 20)
WIDE = traced(2, 21, 4, 60)
LONG = traced(4, 22, 1, 300, requested_time=400)
LONGER = traced(4, 22, 1, 300, requested_time=600)


@pytest.mark.parametrize("name", RESERVING)
def test_a_job_waits_for_the_end_of_maintenance_with_a_reservation(name: str) -> None:
    """Node 3 of four is serviced from 20 to 200, and job 2 needs all nodes, from 200 to 260.

    Job 4 comes after it, needs one node, and may run for 400 s: it would delay job 2, and starts at
    260. So it is if node 3 is serviced and out for another reason from 150 to 170. While node 3 has
    failed beside its maintenance its return is not known, and job 4 starts.
    """
    for also in ((), (Outage(150, 170, (3,), "reservation"),)):
        outages = Outages((SERVICE, *also))
        for replayed in (by_the_core, event_by_event):
            # For order search 400 s are little enough to go first.
            jobs = [WHOLE, WIDE, LONGER if name == "order-search" else LONG]
            settings = {"outages": outages, "predictor": RequestedTime()}
            told = replayed(parts(alike(4, core=1), RESERVING[name](), **settings), jobs)
            assert {job: start for job, start, *_ in told.jobs} == {1: 0, 2: 200, 4: 260}
    failed = Outages((SERVICE, Outage(21, 150, (3,), "failure")))
    recorder = replay(
        alike(4, core=1), RESERVING[name](), [WHOLE, WIDE, LONG], outages=failed,
        predictor=RequestedTime(),
    )  # fmt: skip
    assert recorder.start_times == {1: 0, 2: 322, 4: 22}


def test_slurm_passes_over_a_job_that_waits_for_maintenance() -> None:
    """Job 2 waits without a reservation, as a real Slurm 22.05 has it: job 4 starts at 22."""
    params = SlurmBackfillParams(reserve_past_outages=False)
    for replayed in (by_the_core, event_by_event):
        rule = slurm_backfill_rule(ArrivalOrder(), FirstFit(), params)
        settings = {"outages": Outages((SERVICE,)), "predictor": RequestedTime()}
        told = replayed(parts(alike(4, core=1), rule, **settings), [WHOLE, WIDE, LONG])
        assert {job: start for job, start, *_ in told.jobs} == {1: 0, 2: 322, 4: 22}


@pytest.mark.parametrize(
    "dispatcher", ["{name: best-of, solver: none, jobs: all}", "{name: cp, guard: null}"]
)
def test_a_plan_waits_for_the_end_of_maintenance(dispatcher: str) -> None:
    """The same where nothing runs and a plan starts nothing before that end."""
    system = alike(4, core=1)
    recorder = replay(
        system, declared(system, dispatcher), [WHOLE, WIDE, LONGER],
        outages=Outages((SERVICE,)), predictor=RequestedTime(),
    )  # fmt: skip
    assert recorder.start_times == {1: 0, 2: 200, 4: 260}


@pytest.mark.parametrize("option", ["strict", "greedy", "committed"])
def test_rules_that_reserve_nothing_let_others_pass(option: Any) -> None:
    """Job 2 is not shown to them before node 3 is back, at 200; job 4 starts at once."""
    recorder = replay(
        alike(4, core=1), lists(option=option), [WHOLE, WIDE, LONG],
        outages=Outages((SERVICE,)), predictor=RequestedTime(),
    )  # fmt: skip
    assert recorder.start_times == {1: 0, 2: 322, 4: 22}


@pytest.mark.parametrize("name", sorted(RESERVING.keys() - {"order-search"}))
def test_a_job_too_long_for_the_time_before_maintenance_is_reserved_its_end(name: str) -> None:
    """Node 2 of three is serviced from 8 to 12. Job 1, of 10 s on all nodes, starts at 12.

    It comes at 0. Of the jobs of 12 s on one node that come at 1 and 4 the first would end at 13,
    beyond its start: they follow it at 22. One of 8 s that comes at 3 ends before it.
    """
    jobs = [traced(1, 0, 3, 10), traced(2, 1, 1, 12), traced(3, 3, 1, 8), traced(4, 4, 1, 12)]
    outages = Outages((Outage(8, 12, (2,), "maintenance"),))
    recorder = replay(alike(3, core=1), RESERVING[name](), jobs, outages=outages)
    assert recorder.start_times == {1: 12, 2: 22, 3: 3, 4: 22}


@pytest.mark.parametrize("name", ["conservative", "slack"])
def test_a_reservation_is_on_the_nodes_of_its_job(name: str) -> None:
    """All three nodes are serviced from 3 to 6. Job 1 may use the last two, and comes first.

    It is reserved 6, and job 2, which needs all nodes, 16.
    """
    bound = traced(1, 3, 2, 10, allowed_nodes=frozenset({1, 2}))
    outages = Outages((Outage(3, 6, (0, 1, 2), "maintenance"),))
    recorder = replay(
        alike(3, core=1), RESERVING[name](), [bound, traced(2, 4, 3, 10)], outages=outages
    )
    assert recorder.start_times == {1: 6, 2: 16}
