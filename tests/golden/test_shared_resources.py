"""Schedules under a power cap that falls, worked out by hand.

Four nodes of 4 cores; a core in use draws 10 W. There are 60 W until second 6, 30 W until second
20, and 60 W again. Nodes always have room, so it is power alone that jobs wait for.

    A: 3 cores, seconds 0 to 8: 30 W throughout.
    B: 3 cores, seconds 0 to 4: with A all there is.
    C: 3 cores for 4 s: would still run in second 6 if it started at 4, when A takes all 30 W.
    D: 1 core for 2 s: is over when the cap falls if it starts at 4.
"""

import pytest

from hpcsched.simulation.observer import Observer
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import audit_replay
from tests.builders import (
    ALLOCATORS,
    Told,
    conservative_rule,
    easy,
    lists,
    relaxed_rule,
    replay,
    slack_rule,
    traced,
)

POWER = SharedResource("power", 60, Draw({"core": 10}), (Change(6, 30), Change(20, 60)))
SYSTEM = System((NodeGroup("node", 4, {"core": 4}),), {}, (POWER,))
FIRST = ALLOCATORS["first-fit"]
DISPATCHERS = {
    "easy": easy(),
    "greedy": lists(option="greedy"),
    "backfill": lists(),
    "relaxed": relaxed_rule(FIRST, 0.0),
    "conservative": conservative_rule(FIRST),
    "slack": slack_rule(FIRST, 0.0, 0),
}
EACH = pytest.mark.parametrize("name", DISPATCHERS)


def jobs(last):
    """Return the four jobs; D runs for `last` seconds."""
    return (
        traced(1, 0, 3, 8, (1,)),
        traced(2, 0, 3, 4, (1,)),
        traced(3, 1, 3, 4, (1,)),
        traced(4, 2, 1, last, (1,)),
    )


class Why(Observer):
    """Keeps why jobs wait."""

    def __init__(self):
        self.reasons = {}

    def reasons_given(self, record, reasons):
        """Keep them by time and job."""
        for reason in reasons:
            self.reasons[record.now, reason.job_id] = reason.kind, reason.detail


@EACH
def test_a_job_that_is_over_when_the_cap_falls(name):
    """D passes C, which has to wait for A to end."""
    recorder = replay(SYSTEM, DISPATCHERS[name], jobs(2))
    assert recorder.start_times == {1: 0, 2: 0, 3: 8, 4: 4}


@EACH
def test_a_job_that_would_still_run_when_the_cap_falls(name):
    """D waits: in second 6 A takes all there is, and from second 8 on C does."""
    recorder = replay(SYSTEM, DISPATCHERS[name], jobs(3))
    assert recorder.start_times == {1: 0, 2: 0, 3: 8, 4: 12}


def test_in_strict_order():
    """D has to wait for C, which is before it."""
    recorder = replay(SYSTEM, lists(option="strict"), jobs(2))
    assert recorder.start_times == {1: 0, 2: 0, 3: 8, 4: 12}


@EACH
def test_the_reason_names_the_shared_resource(name):
    """Of a job for which nodes have room."""
    why = Why()
    replay(SYSTEM, DISPATCHERS[name], jobs(3), observers=[why])
    kind, detail = why.reasons[1, 3]
    assert kind == "no_room"
    assert detail.startswith("shared resource power")


@EACH
def test_nothing_is_killed_when_the_cap_falls(name):
    """B is predicted to end in time and does not: it runs on, and nothing starts meanwhile.

    D does not even start when the cap rises again, as B does not end in time for it.
    """
    longer = (jobs(2)[0], traced(2, 0, 3, 9, (1,)), jobs(2)[3])
    told = Told({1: 8, 2: 4, 4: 2})
    recorder = replay(SYSTEM, DISPATCHERS[name], longer, predictor=told)
    assert recorder.start_times == {1: 0, 2: 0, 4: 9}
    audit_replay(list(recorder.jobs.values()), longer, SYSTEM)


def test_a_round_is_held_when_the_cap_rises():
    """Nothing ends or is submitted then, and the job needs all that is offered."""
    alone = (traced(1, 7, 6, 4, (1,)),)
    assert replay(SYSTEM, easy(), alone).start_times == {1: 20}


def test_a_node_that_is_on_draws_nothing_more():
    """Nodes draw 10 W, and 20 W are offered: three jobs share one node and the power for it."""
    resource = SharedResource("power", 20, Draw(per_node=10))
    system = System((NodeGroup("node", 4, {"core": 4}),), {}, (resource,))
    three = tuple(traced(k, k, 1, 10, (1,)) for k in range(3))
    wide = traced(3, 4, 2, 5, (4,))
    recorder = replay(system, easy(), (*three, wide))
    assert recorder.start_times == {0: 0, 1: 1, 2: 2, 3: 12}


def test_a_job_is_charged_for_all_nodes_that_it_may_be_alone_on():
    """Eight units fit on two nodes, and could be on four, for which there is never enough power."""
    resource = SharedResource("power", 20, Draw(per_node=10))
    system = System((NodeGroup("node", 4, {"core": 4}),), {}, (resource,))
    recorder = replay(system, easy(), (traced(1, 0, 8, 5, (1,)), traced(2, 0, 2, 5, (4,))))
    assert recorder.jobs[1].rejected_by == "over_shared_resource"
    assert recorder.start_times == {1: None, 2: 0}


@pytest.mark.parametrize("name", ["easy", "relaxed", "backfill"])
def test_a_job_that_shared_resources_have_enough_for_would_delay_another(name):
    """A draws 30 W until second 10, when B is to have all 60 W; C would take 30 W of them."""
    resource = SharedResource("power", 60, Draw({"core": 10}))
    system = System((NodeGroup("node", 4, {"core": 4}),), {}, (resource,))
    three = (traced(1, 0, 3, 10, (1,)), traced(2, 1, 6, 5, (1,)), traced(3, 2, 3, 9, (1,)))
    why = Why()
    recorder = replay(system, DISPATCHERS[name], three, observers=[why])
    assert why.reasons[2, 2] == ("no_room", "shared resource power")
    assert why.reasons[2, 3] == ("reserved_for", "")
    assert recorder.start_times == {1: 0, 2: 10, 3: 15}


def test_a_job_that_may_be_delayed_for_ever():
    """Shared resources whose capacities change for ever are looked at no further than they matter.

    A draws 30 W until second 10, when B is promised all 60 W, which there are in the first 40 s of
    each minute. B may be delayed, in theory, for longer than the universe lasts, to a second 26 of
    a minute: C starts at 2.
    """
    resource = SharedResource("power", 60, Draw({"core": 10}), (Change(0, 60), Change(40, 30)), 60)
    system = System((NodeGroup("node", 4, {"core": 4}),), {}, (resource,))
    three = (traced(1, 0, 3, 10, (1,)), traced(2, 1, 6, 5, (1,)), traced(3, 2, 3, 20, (1,)))
    dispatcher = relaxed_rule(FIRST, 1e300)
    assert replay(system, dispatcher, three).start_times == {1: 0, 2: 22, 3: 2}
