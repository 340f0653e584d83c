"""Queue orders by expected run times: what is learnt in a replay, by hand."""

import pytest

from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import KEYS, ColumnKeyOrder
from hpcsched.prediction.predictors import Actual, RequestedTime
from hpcsched.system.outages import Outage, Outages
from tests.builders import alike, parts, traced
from tests.simulation.replays import by_the_core, event_by_event

PREDICTED = ColumnKeyOrder(KEYS["sjf"])
EXPECTED = ColumnKeyOrder(KEYS["sjf"], (1, 0))


@pytest.mark.parametrize("users", [(1, 1, 2), (None, None, None)])
@pytest.mark.parametrize(
    ("order", "predictor", "starts"),
    [
        (PREDICTED, RequestedTime(), {1: 0, 3: 100, 2: 611}),
        (EXPECTED, RequestedTime(), {1: 0, 2: 100, 3: 1100}),
        (EXPECTED, Actual(), {1: 0, 3: 100, 2: 611}),
    ],
)
def test_second_job_of_a_user(order, predictor, starts, users):
    """The first ran for a tenth: 367 s of 1000 s are expected of the next, or 500 s without users.

    The requested time of the third job, 511 s, is of another class.
    """
    jobs = [
        traced(1, 0, 1, 100, requested_time=1000, user=users[0]),
        traced(2, 100, 1, 1000, user=users[1]),
        traced(3, 100, 1, 511, user=users[2]),
    ]
    rule = list_rule(order, "backfill", FirstFit())
    simulated = parts(alike(1, core=1), rule, predictor=predictor)
    told = by_the_core(simulated, jobs)
    assert {job[0]: job[1] for job in told.jobs} == starts
    assert told == event_by_event(simulated, jobs)


def test_lost_attempts():
    """What an outage ends early is no run time: the second job is expected to run as long."""
    jobs = [
        traced(1, 0, 1, 1000, user=1),
        traced(2, 20, 1, 1000, user=1),
        traced(3, 20, 1, 511, user=1),
    ]
    simulated = parts(
        alike(1, core=1),
        list_rule(EXPECTED, "backfill", FirstFit()),
        outages=Outages((Outage(10, 20, (0,), "failure"),), requeue=False),
    )
    told = by_the_core(simulated, jobs)
    assert {job[0]: job[1] for job in told.jobs} == {1: 0, 3: 20, 2: 531}
    assert told == event_by_event(simulated, jobs)
