"""Rules start the jobs that a naive reference starts, on the same nodes, for the same reasons.

The reference shares nothing with the product. Both loops are held against it: events in Python,
which asks the core round by round, and that of the core.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.prediction.predictors import RequestedTime
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import NodeGroup, System
from tests.builders import traced
from tests.properties.reference_cases import (
    FEATURES,
    RULES,
    Case,
    cases,
    check,
    many_nodes,
    rules,
)
from tests.reference.events import Around, Replay
from tests.reference.rules import Rule, Why
from tests.reference.timeline import SECOND, TimelineReplay
from tests.strategies import tries

CLOSING = Outages((Outage(13, 14, (1,), "maintenance"),))
names = pytest.mark.parametrize("name", RULES)


@pytest.mark.parametrize("name", ["easy", "relaxed"])
def test_a_node_that_closes_is_no_loss_to_the_head_job(name: str) -> None:
    """Job 3 passes the head job on a node that the head job cannot use.

    Node 0 has two cores, which job 1 uses from 0 to 10, and node 1 has one, which is closed from 13
    to 14. Job 2 comes at 1 and asks for two cores for 10 s: it has node 0 from 10 to 20 and
    nothing of node 1. Job 3 comes at 1 and asks for a core for 11 s: it has node 1 from 1 to 12,
    beyond the start of job 2 and before the outage.
    """
    system = System((NodeGroup("large", 1, {"core": 2}), NodeGroup("small", 1, {"core": 1})))
    jobs = [traced(1, 0, 2, 10), traced(2, 1, 2, 10), traced(3, 1, 1, 11)]
    predicted = {job.job_id: run_time for job, run_time in jobs}
    rule = Rule(name, "fcfs", allocator="first-fit")
    around = Around(predicted, outages=CLOSING)
    settings = {"predictor": RequestedTime(), "outages": CLOSING}
    check(Case(system, jobs, rule, around, settings))
    reference = Replay(system, rule, around)
    reference.run(jobs)
    assert reference.found == {1: (0, {0: 2}), 2: (10, {0: 2}), 3: (1, {1: 1})}


@pytest.mark.parametrize("name", ["conservative", "slack"])
def test_an_outage_takes_no_reservation_away(name: str) -> None:
    """Job 3 has one on a node that it may not begin on when reservations move up.

    Job 1 has both nodes from 0, is expected to end at 4 and ends at 3. Job 2 comes at 1 and asks
    for one node for 5 s: it has node 1 from 4 to 9. Job 3 comes at 2 and asks for one for 2 s: it
    has node 0 from 5 to 7, since that is closed from 4 to 5. At 3, job 2 starts on node 1. Job 3
    would run into the outage on node 0, and keeps its reservation.
    """
    system = System((NodeGroup("n", 2, {"core": 1, "mem": 1}),))
    asked = (1, 1)
    jobs = [traced(1, 0, 2, 4, asked), traced(2, 1, 1, 5, asked), traced(3, 2, 1, 2, asked)]
    predicted = {job.job_id: run_time for job, run_time in jobs}
    jobs[0] = jobs[0]._replace(run_time=3)
    rule = Rule(name, "fcfs", allocator="first-fit")
    closing = Outages((Outage(4, 5, (0,), "maintenance"),))
    around = Around(predicted, outages=closing)
    check(Case(system, jobs, rule, around, {"predictor": RequestedTime(), "outages": closing}))
    reference = Replay(system, rule, around)
    reference.run(jobs)
    assert reference.found == {1: (0, {0: 1, 1: 1}), 2: (3, {1: 1}), 3: (5, {0: 1})}
    assert Why(3, "no_room", None, 5) in reference.told[-2]


@names
@pytest.mark.parametrize("alike", [True, False])
@tries(100)
@given(data=st.data())
def test_each_rule(name: str, alike: bool, data: st.DataObject) -> None:
    """Units that are alike can be planned for by number, and others not."""
    check(data.draw(cases(rules(name), alike=alike, feature="none")))


@names
@tries(60)
@given(data=st.data())
def test_many_nodes(name: str, data: st.DataObject) -> None:
    """Nodes with equal free amounts are told apart by their numbers alone."""
    check(data.draw(many_nodes(rules(name))))


@pytest.mark.parametrize("feature", FEATURES[1:])
@tries(250)
@given(data=st.data())
def test_each_feature(feature: str, data: st.DataObject) -> None:
    """Any rule with outages, with jobs that are held back, with both, and with late decisions."""
    check(data.draw(cases(rules(), feature=feature)))


@pytest.mark.parametrize("name", sorted(SECOND))
@tries(250)
@given(data=st.data())
def test_both_references(name: str, data: st.DataObject) -> None:
    """A table of seconds and a list of changes make the same of each rule, on unlike nodes too."""
    first_fit = rules(name).map(lambda rule: rule._replace(allocator="first-fit"))
    case = data.draw(cases(first_fit))
    one, other = (kind(case.system, case.rule, case.around) for kind in (Replay, TimelineReplay))
    one.run(case.jobs)
    other.run(case.jobs)
    assert (one.found, one.refused, one.lost, one.rounds) == (
        other.found, other.refused, other.lost, other.rounds
    )  # fmt: skip


@pytest.mark.slow
@names
def test_ten_thousand_rounds(name: str) -> None:
    """Each rule holds ten thousand rounds in which jobs wait, if all examples are tried."""
    rounds = []

    @tries(1_800)
    @given(case=cases(rules(name)))
    def replay(case: Case) -> None:
        rounds.append(check(case))

    replay()
    # A case has about six and a half; the mean of a few cases is further from that.
    assert sum(rounds) > (5.6 if len(rounds) >= 1_800 else 5) * len(rounds)
