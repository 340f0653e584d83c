"""EASY and list scheduling start the jobs that a naive reference starts, on the same nodes.

The reference shares nothing with the product. Both loops are held against it: events in Python, and
the compiled one.
"""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.prediction.last_two import LastTwo, LastTwoParams
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.parts import Parts
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from tests.builders import ALLOCATORS, ORDERS, lists, parts
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import requesting
from tests.dispatching.core.test_held_jobs import held_jobs
from tests.reference.held import Limit, Replay
from tests.reference.rules import Rule, start_times
from tests.simulation.test_outages_of_all import outages
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


def simulated(system: System, rule: Rule, outages: Outages = NO_OUTAGES) -> Parts:
    """Return the parts of a simulation that follows a rule."""
    if rule.name == "easy":
        behind = None if rule.behind is None else ORDERS[rule.behind]
        dispatcher = Easy(ALLOCATORS[rule.allocator], ORDERS[rule.order], behind)
        return parts(system, dispatcher, predictor=RequestedTime(), outages=outages)
    assert rule.name in ("strict", "greedy", "backfill")
    listed = lists(rule.order, rule.name, rule.depth, rule.allocator)
    return parts(system, listed, predictor=RequestedTime(), outages=outages)


def check(
    system: System,
    rule: Rule,
    jobs: list[TracedJob],
    predicted: dict[int, int],
    outages: Outages = NO_OUTAGES,
) -> None:
    """Replay jobs in three ways and compare starts, places and attempts that were lost."""
    expected = start_times(system, rule, jobs, predicted, outages)
    uncompiled = partial(in_compiled_code, plainly=True)
    for replay in (event_by_event, uncompiled if outages.all else in_compiled_code):
        told = replay(simulated(system, rule, outages), jobs)
        found = {
            number: (start, dict(zip(nodes, units, strict=True)))
            for number, start, _, _, nodes, units, *_ in told.jobs
        }
        assert found == expected.starts, replay
        lost = [(number, start, end) for number, start, end, *_ in told.lost]
        assert lost == expected.lost, replay


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


@tries(500)
@given(workload=mixed_workloads(max_jobs=12), rule=rules, data=st.data())
def test_outages(workload: Workload, rule: Rule, data: st.DataObject) -> None:
    """Unlike units, with nodes that go out of service, announced or not."""
    drawn = data.draw(outages(workload.system, data.draw(st.sampled_from([12, 20, 40]))))
    check(workload.system, rule, requesting(workload), workload.predictions, drawn)


@tries(500)
@given(workload=mixed_workloads(max_jobs=10), rule=rules, data=st.data())
def test_jobs_that_are_held_back(workload: Workload, rule: Rule, data: st.DataObject) -> None:
    """Unlike units; jobs wait for others, users are limited, and run times are learnt."""
    system = workload.system
    jobs, held = data.draw(held_jobs(requesting(workload), system.node_count))
    limits = {
        k: Limit(partition.running_jobs_per_user, partition.nodes_per_user)
        for k, partition in enumerate(held["partitions"])
    }
    reference = Replay(system, rule, limits)
    reference.run(jobs)
    given_parts = simulated(system, rule)._replace(predictor=LastTwo(LastTwoParams()), **held)
    for replay in (event_by_event, partial(in_compiled_code, plainly=True)):
        found = {
            number: (start, dict(zip(nodes, units, strict=True)))
            for number, start, _, _, nodes, units in replay(given_parts, jobs).jobs
        }
        assert found == reference.found, replay
