"""EASY and list scheduling start the jobs that a naive reference starts, on the same nodes.

The reference shares nothing with the product. Both loops are held against it: events in Python, and
the compiled one.
"""

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.parts import Parts
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from tests.builders import ALLOCATORS, ORDERS, lists, parts
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import requesting
from tests.reference.rules import Rule, start_times
from tests.strategies import Workload, mixed_workloads, tries, uniform_workloads

orders = st.sampled_from(sorted(ORDERS))
allocators = st.sampled_from(sorted(ALLOCATORS))
depths = st.sampled_from([None, None, 0, 1, 2, 2**63])
nothing = st.none()
rules = st.one_of(
    st.builds(Rule, st.just("easy"), orders, nothing | orders, nothing, allocators),
    st.builds(Rule, st.just("backfill"), orders, nothing, depths, allocators),
    st.builds(Rule, st.sampled_from(["strict", "greedy"]), orders, nothing, nothing, allocators),
)


def simulated(system: System, rule: Rule) -> Parts:
    """Return the parts of a simulation that follows a rule."""
    if rule.name == "easy":
        behind = None if rule.behind is None else ORDERS[rule.behind]
        dispatcher = Easy(ALLOCATORS[rule.allocator], ORDERS[rule.order], behind)
        return parts(system, dispatcher, predictor=RequestedTime())
    assert rule.name in ("strict", "greedy", "backfill")
    listed = lists(rule.order, rule.name, rule.depth, rule.allocator)
    return parts(system, listed, predictor=RequestedTime())


def check(system: System, rule: Rule, jobs: list[TracedJob], predicted: dict[int, int]) -> None:
    """Replay jobs in three ways and compare starts and places."""
    expected = {
        number: (start, tuple(sorted(placed.items())))
        for number, (start, placed) in start_times(system, rule, jobs, predicted).items()
    }
    for replay in (event_by_event, in_compiled_code):
        told = replay(simulated(system, rule), jobs)
        found = {
            number: (start, tuple(zip(nodes, units, strict=True)))
            for number, start, _, _, nodes, units in told.jobs
        }
        assert found == expected, replay.__name__


@tries(500)
@given(workload=mixed_workloads(max_jobs=10), rule=rules)
def test_unlike_units(workload: Workload, rule: Rule) -> None:
    """Unlike units on unlike nodes, some exclusive, scattered or bound to nodes."""
    check(workload.system, rule, requesting(workload), workload.predictions)


@tries(500)
@given(workload=uniform_workloads(max_jobs=12), rule=rules)
def test_equal_units(workload: Workload, rule: Rule) -> None:
    """Equal units, which can be planned for by number."""
    check(workload.system, rule, requesting(workload), workload.predictions)
