"""Rules beyond EASY and lists, in the core and in the loop of events in Python, start the same.

Few settings are looked at compiled, as each has to be compiled by itself; the same code in plain
Python is held against the other loop in all.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.heuristic.conservative import Conservative
from hpcsched.dispatching.heuristic.critical import Balanced, Hybrid, Weighted
from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.dispatching.heuristic.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.heuristic.list_scheduling import ListScheduler
from hpcsched.dispatching.heuristic.orders import SlowdownOrder
from hpcsched.dispatching.heuristic.relaxed import Relaxed
from hpcsched.dispatching.heuristic.reserved_round import Compression
from hpcsched.dispatching.heuristic.slack import SlackBased
from hpcsched.workload.job import TracedJob
from tests.builders import ALLOCATORS, ORDERS, parts
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import requesting, settings
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

orders = st.one_of(
    st.sampled_from(sorted(ORDERS)).map(lambda name: ORDERS[name]),
    st.just(SlowdownOrder()),
    st.builds(
        ExpectedWaitOrder,
        st.integers(1, 4),
        st.dictionaries(st.integers(0, 3), st.integers(1, 4), max_size=3),
    ),
)
critical = st.sampled_from([None, (), ("gpu",), ("core", "gpu"), ("core", "mem", "gpu")])
allocators = st.one_of(
    st.sampled_from(sorted(ALLOCATORS)).map(lambda name: ALLOCATORS[name]),
    st.just(Weighted()),
    st.builds(Balanced, critical),
    st.builds(Hybrid, critical),
)
options = st.sampled_from(["strict", "greedy", "backfill"])
compressions: st.SearchStrategy[Compression] = st.sampled_from(["arrival", "reservation"])
shares = st.sampled_from([0.0, 0.3, 1.0, 2.7, 1e300])

RULES: dict[str, st.SearchStrategy[Callable[[], Dispatcher]]] = {
    "lists": st.builds(lambda *chosen: lambda: ListScheduler(*chosen), orders, options, allocators),
    "easy": st.builds(
        lambda *chosen: lambda: Easy(*chosen), allocators, orders, st.none() | orders
    ),
    "relaxed": st.builds(
        lambda *chosen: lambda: Relaxed(*chosen), allocators, shares, orders, st.none() | orders
    ),
    "conservative": st.builds(
        lambda *chosen: lambda: Conservative(*chosen), allocators, compressions
    ),
    "slack": st.builds(
        lambda *chosen: lambda: SlackBased(*chosen),
        allocators,
        shares,
        st.integers(0, 5),
        compressions,
    ),
}
"""What makes dispatchers, by rule; those that remember something are made for each replay."""

rules = pytest.mark.parametrize("rule", sorted(RULES))


def in_queues(data: st.DataObject, workload: Uniform | Workload) -> list[TracedJob]:
    """Return jobs that request what is predicted of them, each in one of three queues or none."""
    queues = st.sampled_from([None, 0, 1, 2])
    return [
        TracedJob(job._replace(queue=data.draw(queues)), run_time)
        for job, run_time in requesting(workload)
    ]


@rules
@tries(150)
@given(
    workload=uniform_workloads(max_jobs=20), chosen=settings, pooled=st.booleans(), data=st.data()
)
def test_equal_units(
    rule: str, workload: Uniform, chosen: dict[str, Any], pooled: bool, data: st.DataObject
) -> None:
    """Jobs that ask for equal units, counted as slots and looked up on nodes."""
    request = workload.request if pooled else None
    make, jobs = data.draw(RULES[rule]), in_queues(data, workload)
    told = [
        run(parts(workload.system, make(), uniform_request=request, **chosen), jobs)
        for run in (plainly, event_by_event)
    ]
    assert told[0] == told[1]


@rules
@tries(150)
@given(workload=mixed_workloads(max_jobs=12), chosen=settings, data=st.data())
def test_unlike_units(
    rule: str, workload: Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Jobs that ask for unlike units, some of them exclusive, scattered or bound to nodes."""
    make, jobs = data.draw(RULES[rule]), in_queues(data, workload)
    told = [
        run(parts(workload.system, make(), **chosen), jobs) for run in (plainly, event_by_event)
    ]
    assert told[0] == told[1]


@rules
@tries(150)
@given(workload=mixed_workloads(max_jobs=12), chosen=settings, data=st.data())
def test_outages(
    rule: str, workload: Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Nodes that go out of service, announced or not, with jobs on them and jobs that would be."""
    make, jobs = data.draw(RULES[rule]), in_queues(data, workload)
    chosen["outages"] = data.draw(
        outages(workload.system, data.draw(st.sampled_from([12, 20, 40])))
    )
    told = [
        run(parts(workload.system, make(), **chosen), jobs) for run in (plainly, event_by_event)
    ]
    assert told[0] == told[1]


def plainly(*replay: Any) -> Any:
    """Replay jobs in the core as plain Python."""
    return in_compiled_code(*replay, plainly=True)
