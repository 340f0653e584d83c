"""Rules that keep promises, orders by wait and allocators for unlike nodes, by the book.

Each is replayed event by event, in the core as plain Python, and by a naive reference.
"""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.heuristic.conservative import Conservative
from hpcsched.dispatching.heuristic.critical import Balanced, Hybrid, Weighted
from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.dispatching.heuristic.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.heuristic.list_scheduling import ListScheduler
from hpcsched.dispatching.heuristic.orders import slowdown_order
from hpcsched.dispatching.heuristic.relaxed import Relaxed
from hpcsched.dispatching.heuristic.slack import SlackBased
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.workload.job import TracedJob
from tests import builders
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import requesting
from tests.reference.promises import start_times_with_promises
from tests.reference.rules import Rule, start_times
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

ALLOCATORS = {
    **builders.ALLOCATORS,
    "weighted": Weighted(),
    "balanced": Balanced(),
    "hybrid": Hybrid(),
}
ORDERS = {
    **builders.ORDERS,
    "slowdown": slowdown_order(),
    "expected_wait": ExpectedWaitOrder(2, {1: 3}),
}
MAKERS: dict[str, Callable[[Rule], Dispatcher]] = {
    "easy": lambda rule: Easy(ALLOCATORS[rule.allocator], ORDERS[rule.order]),
    "greedy": lambda rule: ListScheduler(ORDERS[rule.order], "greedy", ALLOCATORS[rule.allocator]),
    "relaxed": lambda rule: Relaxed(ALLOCATORS[rule.allocator], rule.share, ORDERS[rule.order]),
    "conservative": lambda rule: Conservative(
        ALLOCATORS[rule.allocator], "arrival" if rule.compression == "arrival" else "reservation"
    ),
    "slack": lambda rule: SlackBased(
        ALLOCATORS[rule.allocator],
        rule.share,
        rule.least_slack,
        "arrival" if rule.compression == "arrival" else "reservation",
    ),
}
names = pytest.mark.parametrize("name", MAKERS)


@st.composite
def cases(
    draw: st.DrawFn, workloads: st.SearchStrategy[Uniform | Workload]
) -> tuple[Uniform | Workload, Rule, list[TracedJob]]:
    """Draw a workload, a rule whose name is still to be set, and jobs in queue 1 or none."""
    workload = draw(workloads)
    rule = Rule(
        "",
        draw(st.sampled_from(sorted(ORDERS))),
        allocator=draw(st.sampled_from(sorted(ALLOCATORS))),
        compression=draw(st.sampled_from(["arrival", "reservation"])),
        share=draw(st.sampled_from([0.0, 0.3, 1.0, 2.5])),
        least_slack=draw(st.integers(0, 4)),
    )
    queues = st.sampled_from([None, 1])
    jobs = [
        TracedJob(job._replace(queue=draw(queues)), run_time)
        for job, run_time in requesting(workload)
    ]
    return workload, rule, jobs


unlike = cases(mixed_workloads(max_jobs=10))
equal = cases(uniform_workloads(max_jobs=12))


def check(name: str, case: tuple[Uniform | Workload, Rule, list[TracedJob]]) -> None:
    """Replay jobs in three ways and compare starts and places."""
    workload, rule, jobs = case
    rule, system = rule._replace(name=name), workload.system
    if name in ("easy", "greedy"):
        expected = start_times(system, rule, jobs, workload.predictions).starts
    else:
        expected = start_times_with_promises(system, rule, jobs, workload.predictions)
    for replay in (event_by_event, partial(in_compiled_code, plainly=True)):
        simulated = builders.parts(system, MAKERS[name](rule), predictor=RequestedTime())
        found = {
            number: (start, dict(zip(nodes, units, strict=True)))
            for number, start, _, _, nodes, units, *_ in replay(simulated, jobs).jobs
        }
        assert found == expected, replay


@names
@tries(100)
@given(case=unlike)
def test_unlike_units(name: str, case: tuple[Workload, Rule, list[TracedJob]]) -> None:
    """Unlike units on unlike nodes, some exclusive, scattered or bound to nodes."""
    check(name, case)


@names
@tries(100)
@given(case=equal)
def test_equal_units(name: str, case: tuple[Uniform, Rule, list[TracedJob]]) -> None:
    """Equal units, which can be planned for by number."""
    check(name, case)


@pytest.mark.slow
@names
@tries(1_500)
@given(case=unlike | equal)
def test_ten_thousand(name: str, case: tuple[Uniform | Workload, Rule, list[TracedJob]]) -> None:
    """More than ten thousand rounds with a queue for each rule, about eight a workload."""
    check(name, case)
