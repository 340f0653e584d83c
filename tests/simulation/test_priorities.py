"""Priorities of the core are those that Python is asked for; so is what observers tell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams, Weights
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.errors import PluginError
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import EventLoop, simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.system.system import System
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from hpcsched.workload.site_partitions import NO_PARTITIONS
from hpcsched.workload.site_policies import PARENT, Account, SitePolicies
from tests.builders import alike, easy, easy_rule, parts, relaxed_rule, traced
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_against_events import requesting, settings
from tests.simulation.test_held_jobs import held_jobs
from tests.simulation.test_latency import latencies
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

RULES = ["list", "easy", "behind", "relaxed"]

amounts = st.sampled_from([0.0, 1.0, 30.0])
shares = st.dictionaries(st.integers(0, 1), st.sampled_from([0.0, 1.0, 4.0]))
weights = st.builds(Weights, age=amounts, size=amounts, fair_share=amounts, partition=amounts)


@st.composite
def followed(draw: Any, system: System, told: dict[str, Any]) -> Any:
    """Draw what makes parts whose dispatcher sorts by priority, with a history of its own."""
    params = MultifactorParams(
        weights=draw(weights),
        max_age=draw(st.integers(1, 20)),
        half_life=draw(st.none() | st.integers(1, 20)),
    )
    users = draw(shares)
    policies = SitePolicies(
        {}, {"all": Account(shares=PARENT, users=users, other_users=True)} if users else {}
    )
    rule = draw(st.sampled_from(RULES))

    def make() -> Parts:
        order = MultifactorOrder(params, system, told.get("partitions", NO_PARTITIONS), policies)
        dispatcher: Dispatcher = easy_rule(FirstFit(), order)
        if rule == "list":
            dispatcher = list_rule(order, "backfill", FirstFit())
        elif rule == "behind":
            dispatcher = easy_rule(FirstFit(), ArrivalOrder(), order)
        elif rule == "relaxed":
            dispatcher = relaxed_rule(FirstFit(), 0.5, order)
        return parts(system, dispatcher, followers=[order], **told)

    return make


@tries(400)
@given(
    workload=mixed_workloads(max_jobs=12) | uniform_workloads(max_jobs=14),
    chosen=settings,
    data=st.data(),
)
def test_priorities(
    workload: Uniform | Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """The usage of users decays; some jobs are held back, some nodes fail, decisions take time."""
    system = workload.system
    jobs, told = data.draw(held_jobs(requesting(workload), system))
    if data.draw(st.booleans()):
        told["outages"] = data.draw(outages(system, 20))
    elif isinstance(workload, Uniform) and data.draw(st.booleans()):
        jobs, told = data.draw(held_jobs(requesting(workload), system, aggregated=True))
        told["uniform_request"] = workload.request
    if data.draw(st.booleans()):
        told["latency"] = data.draw(latencies)
    make = data.draw(followed(system, {**chosen, **told}))
    assert by_the_core(make(), jobs) == event_by_event(make(), jobs)


class Counting(Observer):
    """An observer that tells how many jobs have started, and keeps when it was asked."""

    def __init__(self) -> None:
        self.started = 0
        self.asked: list[tuple[int, int]] = []

    def job_started(self, *_: object) -> None:
        """Count it."""
        self.started += 1

    def additional_data(self, now: int) -> dict[str, object]:
        """Return the count."""
        self.asked.append((now, self.started))
        return {"started": self.started}


def test_an_observer_that_tells_something() -> None:
    """It is asked before each round, after all that was before; two jobs of four start at once."""
    jobs = [traced(k, k // 3, 1, 5) for k in range(4)]
    in_both = Counting(), Counting()
    simulated, other = (
        parts(
            alike(1, core=2),
            easy(),
            predictor=RequestedTime(),
            observers=[counting],
            givers={"counts": counting},
        )
        for counting in in_both
    )
    loop = EventLoop(simulated)
    list(loop.run(columns_of(jobs, RequestNumbers())))
    simulate(other, jobs)
    assert [counting.asked for counting in in_both] == [[(0, 0), (1, 2), (5, 2)]] * 2


def test_an_observer_that_tells_no_data() -> None:
    """The plugin is named."""

    class Odd(Observer):
        """Tells what is no data."""

        def additional_data(self, _now: int) -> Any:
            """Return it."""
            return 1

    odd = Odd()
    simulated = parts(
        alike(1, core=2), easy(), predictor=RequestedTime(), observers=[odd], givers={"odd": odd}
    )
    loop = EventLoop(simulated)
    with pytest.raises(PluginError, match="odd"):
        list(loop.run(columns_of([traced(0, 0, 1, 5)], RequestNumbers())))
