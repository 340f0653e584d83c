"""Preemption in the core against a naive replay, with outages and checkpoints."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.preemption import Checkpoints, PreemptClass, Preemption, by_tiers
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import lists, traced
from tests.properties.naive_preemption import Case, Naive
from tests.simulation.test_preemption import outcome

TIERS = (1, 2, 3)


@st.composite
def cases(draw):
    """Draw a workload on a few nodes that is short of them most of the time."""
    nodes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    small = st.integers(0, 12)
    jobs = [
        (
            number,
            draw(st.integers(0, 40)),
            draw(st.integers(1, sum(nodes))),
            draw(st.integers(0, 40)),
            draw(st.sampled_from(TIERS)),
        )
        for number in range(1, draw(st.integers(1, 9)) + 1)
    ]
    jobs.sort(key=lambda job: job[1])
    jobs = [(k, *job[1:]) for k, job in enumerate(jobs, 1)]
    mode = st.sampled_from(["requeue", "requeue", "cancel", "suspend", "off"])
    outages = [
        (start, start + draw(st.integers(1, 10)), draw(st.integers(0, len(nodes) - 1)))
        for start in draw(st.lists(st.integers(1, 60), max_size=2))
    ]
    checkpoints = draw(st.none() | st.tuples(st.integers(1, 10), st.integers(0, 3), small))
    modes = {tier: draw(mode) for tier in TIERS}
    return Case(
        nodes, jobs, modes, draw(small), draw(st.sampled_from([0, 0, 0, 5])), outages, checkpoints
    )


@settings(max_examples=1500, deadline=None)
@given(cases())
def test_the_core_preempts_as_a_naive_replay_does(case):
    """Starts, ends, states, victims, lost and suspended times are the same."""
    system = System(tuple(NodeGroup(f"n{k}", 1, {"core": c}) for k, c in enumerate(case.nodes)))
    partitions = Partitions(
        tuple(Partition(str(tier), {"partition": frozenset({tier})}, tier=tier) for tier in TIERS)
    )
    below = by_tiers({str(tier): tier for tier in TIERS})
    classes = tuple(
        PreemptClass(str(t), case.modes[t], case.exempt, case.grace, t, below[str(t)])
        for t in TIERS
    )
    jobs = [
        traced(number, submit, cores, work, requested_time=max(work, 1), partition=tier)
        for number, submit, cores, work, tier in case.jobs
    ]
    expected = Naive(case).run()
    found = outcome(
        system,
        jobs,
        Preemption("partition", classes, partitions),
        lambda: lists(option="greedy"),
        outages=Outages(
            tuple(
                sorted(Outage(start, end, (node,), "failure") for start, end, node in case.outages)
            )
        ),
        checkpoints=None if case.checkpoints is None else Checkpoints(*case.checkpoints),
    )
    assert found.jobs == expected.jobs
    assert sorted(found.rows) == sorted(expected.rows)
