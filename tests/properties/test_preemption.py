"""Preemption in the core against a naive replay, with limits, outages and checkpoints."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.system.limits import LimitSet, Metered, SiteLimits, TimeLimits
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.preemption import Checkpoints, PreemptClass, Preemption, by_tiers
from hpcsched.workload.site_partitions import Partition, Partitions
from hpcsched.workload.site_policies import Account, SitePolicies
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
            draw(st.integers(1, 2)),
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
    most = {
        "jobs": st.integers(1, 3),
        "nodes": st.integers(1, len(nodes)),
        "core": st.integers(1, sum(nodes)),
        "left": st.integers(1, 5).map(lambda minutes: 60 * minutes),
        "taken": st.integers(1, 9).map(lambda minutes: 60 * minutes),
    }
    limits = st.fixed_dictionaries({}, optional=most)
    return Case(
        nodes,
        jobs,
        modes,
        draw(small),
        draw(st.sampled_from([0, 0, 0, 5])),
        outages,
        checkpoints,
        draw(st.dictionaries(st.sampled_from([1, 2, 3, -1]), limits, max_size=3)),
    )


def site_limits(case, of):
    """Return limits of a case as those of a partition or an account."""
    given = case.limits.get(of, {})
    amounts = {name: given[name] for name in ("jobs", "nodes", "core") if name in given}
    minutes = {
        name: {"core": Metered(given[name] // 60, 0)} for name in ("taken", "left") if name in given
    }
    over_time = TimeLimits(minutes.get("taken", {}), minutes.get("left", {}))
    return SiteLimits(LimitSet(amounts), over_time)


@settings(max_examples=1500, deadline=None)
@given(cases())
def test_the_core_preempts_as_a_naive_replay_does(case):
    """Starts, ends, states, victims, lost and suspended times are the same."""
    system = System(tuple(NodeGroup(f"n{k}", 1, {"core": c}) for k, c in enumerate(case.nodes)))
    partitions = Partitions(
        tuple(
            Partition(
                str(tier),
                {"partition": frozenset({tier})},
                tier=tier,
                limits=site_limits(case, tier),
            )
            for tier in TIERS
        )
    )
    below = by_tiers({str(tier): tier for tier in TIERS})
    classes = tuple(
        PreemptClass(str(t), case.modes[t], case.exempt, case.grace, t, below[str(t)])
        for t in TIERS
    )
    jobs = [
        traced(number, submit, cores, work, requested_time=max(work, 1), partition=tier, user=user)
        for number, submit, cores, work, tier, user in case.jobs
    ]
    expected = Naive(case).run()
    accounts = {"one": Account(users={1: 1}, limits=site_limits(case, -1)), "others": Account()}
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
        policies=SitePolicies({}, accounts),
    )
    assert found.jobs == expected.jobs
    assert sorted(found.rows) == sorted(expected.rows)
