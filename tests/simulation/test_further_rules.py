"""Rules beyond EASY and lists, in the core and in the loop of events in Python, start the same."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import Balanced, FirstFit, Hybrid, Weighted
from hpcsched.dispatching.rules.core_rules import Compression, list_rule
from hpcsched.dispatching.rules.orders import (
    KEYS,
    ColumnKeyOrder,
    ExpectedWaitOrder,
    slowdown_order,
)
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.system.outages import Outage, Outages
from hpcsched.workload.job import TracedJob
from tests.builders import (
    ALLOCATORS,
    OPTIONS,
    ORDERS,
    alike,
    conservative_rule,
    easy_rule,
    parts,
    relaxed_rule,
    slack_rule,
    slurm_backfill_rule,
    traced,
)
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_against_events import requesting, settings
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

orders = st.one_of(
    st.sampled_from(sorted(ORDERS)).map(lambda name: ORDERS[name]),
    st.just(ColumnKeyOrder(KEYS["spf"], (2, 1, 0))),
    st.just(slowdown_order()),
    st.builds(
        ExpectedWaitOrder,
        st.integers(1, 4),
        st.dictionaries(st.integers(0, 3), st.integers(1, 4), max_size=3),
    ),
)
scarce_resources = st.sampled_from([None, (), ("gpu",), ("core", "gpu"), ("core", "mem", "gpu")])
allocators = st.one_of(
    st.sampled_from(sorted(ALLOCATORS)).map(lambda name: ALLOCATORS[name]),
    st.just(Weighted()),
    st.builds(Balanced, scarce_resources),
    st.builds(Hybrid, scarce_resources),
)
options = st.sampled_from(sorted(OPTIONS))
compressions: st.SearchStrategy[Compression] = st.sampled_from(["arrival", "reservation"])
shares = st.sampled_from([0.0, 0.3, 1.0, 2.7, 1e300])

slurm_settings = st.builds(
    SlurmBackfillParams,
    default_queue_depth=st.sampled_from([0, 1, 2, 100]),
    bf_interval=st.sampled_from([1, 2, 5, 30]),
    bf_max_job_test=st.sampled_from([1, 2, 500]),
    bf_max_job_user=st.sampled_from([0, 1, 2]),
    bf_window=st.sampled_from([1, 3, 86_400]),
    bf_resolution=st.sampled_from([1, 2, 5]),
)

RULES: dict[str, st.SearchStrategy[Callable[[], Dispatcher]]] = {
    "lists": st.builds(lambda *chosen: lambda: list_rule(*chosen), orders, options, allocators),
    "easy": st.builds(
        lambda *chosen: lambda: easy_rule(*chosen), allocators, orders, st.none() | orders
    ),
    "relaxed": st.builds(
        lambda *chosen: lambda: relaxed_rule(*chosen),
        allocators,
        shares,
        orders,
        st.none() | orders,
    ),
    "conservative": st.builds(
        lambda *chosen: lambda: conservative_rule(*chosen), allocators, compressions
    ),
    "slack": st.builds(
        lambda *chosen: lambda: slack_rule(*chosen),
        allocators,
        shares,
        st.integers(0, 5),
        compressions,
    ),
    "slurm-backfill": st.builds(
        lambda *chosen: lambda: slurm_backfill_rule(*chosen), orders, allocators, slurm_settings
    ),
}
"""What makes dispatchers, by rule; those that remember something are made for each replay."""

rules = pytest.mark.parametrize("rule", sorted(RULES))


def in_queues(data: st.DataObject, workload: Uniform | Workload) -> list[TracedJob]:
    """Return jobs that request what is predicted of them, each with a queue, user and partition."""
    numbers = st.sampled_from([None, 0, 1, 2])
    kinds = st.fixed_dictionaries({"queue": numbers, "user": numbers, "partition": numbers})
    return [
        TracedJob(job._replace(**data.draw(kinds)), run_time)
        for job, run_time in requesting(workload)
    ]


def test_conservative_by_the_core() -> None:
    """Two nodes of one core, counted as slots; jobs of 1 and 2 cores that ask for 4 s or 6 s.

    Job 1 has a core until 4, job 2 waits for both from 4 on, job 3 fits beside job 1 before that,
    and job 4, which would end at 8, may not delay job 2: it starts when that ends, at 10.
    """
    asked = [(1, 0, 1, 4), (2, 1, 2, 6), (3, 1, 1, 2), (4, 2, 1, 6)]
    jobs = [traced(*job) for job in asked]
    simulated = parts(alike(2, core=1), conservative_rule(FirstFit()), uniform_request=(1,))
    told = by_the_core(simulated, jobs)
    starts = {number: start for number, start, *_ in told.jobs}
    assert starts == {1: 0, 2: 4, 3: 1, 4: 10}
    assert told == event_by_event(simulated, jobs)


@rules
@tries(75)
@given(
    workload=uniform_workloads(max_jobs=20),
    chosen=settings,
    aggregated=st.booleans(),
    data=st.data(),
)
def test_equal_units(
    rule: str, workload: Uniform, chosen: dict[str, Any], aggregated: bool, data: st.DataObject
) -> None:
    """Jobs that ask for equal units, counted as slots and looked up on nodes."""
    request = workload.request if aggregated else None
    make, jobs = data.draw(RULES[rule]), in_queues(data, workload)
    told = [
        run(parts(workload.system, make(), uniform_request=request, **chosen), jobs)
        for run in (by_the_core, event_by_event)
    ]
    assert told[0] == told[1]


@rules
@tries(75)
@given(workload=mixed_workloads(max_jobs=12), chosen=settings, data=st.data())
def test_unlike_units(
    rule: str, workload: Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Jobs that ask for unlike units, some of them exclusive, one per node or bound to nodes."""
    make, jobs = data.draw(RULES[rule]), in_queues(data, workload)
    told = [
        run(parts(workload.system, make(), **chosen), jobs) for run in (by_the_core, event_by_event)
    ]
    assert told[0] == told[1]


@rules
@tries(75)
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
        run(parts(workload.system, make(), **chosen), jobs) for run in (by_the_core, event_by_event)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("request_of_all", [(1,), None])
@pytest.mark.parametrize(
    ("dispatcher", "starts"),
    [
        (slack_rule(FirstFit(), 0.0, 2), [0, 12, 2]),
        (slack_rule(FirstFit(), 0.0, 1), [0, 10, 15]),
        (slack_rule(FirstFit(), 0.25, 0), [0, 12, 2]),
        (slack_rule(FirstFit(), 0.2, 0), [0, 10, 15]),
        (relaxed_rule(FirstFit(), 0.25), [0, 12, 2]),
        (relaxed_rule(FirstFit(), 0.2), [0, 10, 15]),
        (conservative_rule(FirstFit()), [0, 10, 15]),
    ],
)
def test_two_seconds_late(
    dispatcher: Dispatcher, starts: list[int], request_of_all: tuple[int, ...] | None
) -> None:
    """A job of one core is in the way of one of two cores, which may be late by 2 s or by 1 s.

    Job 1 runs from 0 to 10 on one core of two. At 1 job 2 is promised both from 10 on: a wait of
    9 s, of which 0.25 are 2 s and 0.2 are 1 s, rounded down. At 2 comes job 3, of one core and
    10 s: until 12 if it starts, so that job 2 is late by 2 s; otherwise it starts at 10 + 5.
    """
    jobs = [traced(1, 0, 1, 10), traced(2, 1, 2, 5), traced(3, 2, 1, 10)]
    simulated = parts(alike(1, core=2), dispatcher, uniform_request=request_of_all)
    told = by_the_core(simulated, jobs)
    assert [start for _, start, *_ in sorted(told.jobs)] == starts


@pytest.mark.parametrize("request_of_all", [(1,), None])
def test_what_is_left_by_a_job_that_ends_early(request_of_all: tuple[int, ...] | None) -> None:
    """A reservation moves to an earlier time when a job ends early, and is kept from then on.

    Of three cores job 1 has one until 6, and job 2 one until 10, as it seems; so job 3, of three,
    is promised 10. At 4 job 2 ends: now 6. At 5 job 4 comes, of one core and 3 s. If it started,
    job 3 would have to wait until 8; so it comes after it, at 6 + 5.
    """
    jobs = [
        traced(1, 0, 1, 6),
        traced(2, 0, 1, 4, requested_time=10),
        traced(3, 1, 3, 5),
        traced(4, 5, 1, 3),
    ]
    simulated = parts(
        alike(1, core=3),
        conservative_rule(FirstFit()),
        uniform_request=request_of_all,
        predictor=RequestedTime(),
    )
    assert [start for _, start, *_ in sorted(by_the_core(simulated, jobs).jobs)] == [
        0,
        0,
        6,
        11,
    ]


def test_room_on_a_node_that_is_back_goes_to_those_that_were_promised_a_start() -> None:
    """Three nodes with a core; two are out from 10 to 20, and job 1 loses its attempt on one.

    Job 4 fits at 6, but job 3 is promised two nodes at 20, and needs the free one; so job 4 is
    promised 30. At 10 job 3 has too few nodes and loses its promise: job 4 moves to 20, and job 1,
    which is queued again, is promised 35. At 20 the nodes are back: job 1 moves to 20 before job 3
    is promised a start anew, at 35.
    """
    jobs = [traced(1, 0, 1, 100), traced(2, 0, 1, 20), traced(3, 5, 2, 10), traced(4, 6, 1, 15)]
    out = Outage(start=10, end=20, nodes=(0, 2), kind="failure", name="out")
    told = [
        replayed(
            parts(
                alike(3, core=1),
                conservative_rule(FirstFit(), "arrival"),
                outages=Outages(all=(out,), requeue=True),
            ),
            jobs,
        )
        for replayed in (by_the_core, event_by_event)
    ]
    starts = {number: start for number, start, *_ in told[0].jobs}
    assert starts == {1: 20, 2: 0, 3: 35, 4: 20}
    assert told[0] == told[1]
