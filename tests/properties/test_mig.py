"""MIG slices in the core against a naive replay, and all rules against the vendor's placements."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched.system.mig import MIG_PROFILES, MIG_SHARES
from hpcsched.system.space import units_on_idle
from hpcsched.system.system import Devices, NodeGroup, Request, System
from tests.builders import lists
from tests.properties.naive_devices import Unit, replay
from tests.properties.naive_mig import PLACEMENTS, SlicedNode, layouts, slices_of
from tests.properties.test_devices import ALLOCATORS, outcome
from tests.simulation.test_preemption import RULES

PROFILES = MIG_PROFILES["a100-40gb"]
AMOUNTS = {one.name: one.amount for one in PROFILES}


def system_of(sizes):
    """Return a system of nodes with these numbers of cores and sliced GPUs."""
    groups = (
        NodeGroup(f"n{k}", 1, {"core": c, "gpu": d}, sliced=True) for k, (c, d) in enumerate(sizes)
    )
    devices = Devices("gpu", MIG_SHARES, PROFILES)
    return System(tuple(groups), {"gpu": Fraction(1, MIG_SHARES)}, devices=devices)


def amount_of(asked):
    """Return the amount of a profile, or of whole GPUs."""
    return asked * MIG_SHARES if isinstance(asked, int) else AMOUNTS[asked]


@st.composite
def cases(draw):
    """Draw nodes with cores and GPUs, and jobs of which each fits on the idle system."""
    sizes = draw(
        st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), min_size=1, max_size=3).filter(
            lambda sizes: any(gpus for _, gpus in sizes)
        )
    )
    system, jobs = system_of(sizes), []
    for _ in range(draw(st.integers(1, 25))):
        submit, cores = draw(st.integers(0, 20)), draw(st.integers(0, 2))
        asked = draw(st.sampled_from([0, 1, 2, *PLACEMENTS]))
        if cores == asked == 0:
            continue
        room = int(units_on_idle(system, Request(1, (cores, amount_of(asked)))).sum())
        if room:
            units = min(draw(st.sampled_from([1, 1, 2, 3, 5])), room)
            jobs.append((submit, draw(st.integers(1, 20)), units, cores, asked))
    jobs.sort(key=lambda job: job[:4])
    return sizes, [Unit(k, *job) for k, job in enumerate(jobs, 1)]


def replayed(sizes, jobs, rule, **how):
    """Replay jobs, as `outcome` of shares does."""
    given_jobs = [job._replace(amount=amount_of(job.amount)) for job in jobs]
    return outcome(system_of(sizes), given_jobs, rule, **how)


@settings(max_examples=600, deadline=None)
@given(cases())
def test_the_core_gives_slices_as_a_naive_replay_does(case):
    """Starts, nodes and slices are the same."""
    sizes, jobs = case
    expected = replay(sizes, jobs, SlicedNode)
    for in_python in (False, True):
        found = replayed(sizes, jobs, lists(option="greedy"), in_python=in_python)
        assert found == expected


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(sorted(RULES)), st.sampled_from(ALLOCATORS))
def test_every_layout_is_one_that_the_vendor_allows(case, rule, allocator):
    """Each unit has a placement of its profile, and no slice is taken twice."""
    sizes, jobs = case
    dispatcher = RULES[rule]()
    dispatcher.allocator = allocator()
    found = replayed(sizes, jobs, dispatcher)
    assert found.keys() == {job.number for job in jobs}
    changes = []
    for job in jobs:
        start, places = found[job.number]
        assert start >= job.submit
        assert len(places) == job.units
        for node, taken in places:
            if isinstance(job.amount, int):
                whole = {one // 8 for one in taken}
                assert len(whole) == job.amount
                assert len(taken) == 8 * job.amount
            else:
                gpu = min(taken) // 8 * 8
                allowed = [slices_of(job.amount, at) for at in PLACEMENTS[job.amount][0]]
                assert [one - gpu for one in taken] in allowed
            for sign, time in ((1, start), (-1, start + job.run_time)):
                changes += [(time, sign, node, one) for one in taken]
    held = set()
    for _, sign, *key in sorted(changes, key=lambda one: one[:2]):
        if sign < 0:
            held.remove(tuple(key))
        else:
            assert tuple(key) not in held
            held.add(tuple(key))


def test_placements_keep_to_the_compute_slices_of_a_gpu():
    """Disjoint placements need at most 7 compute slices, and at most the shares of a GPU."""
    for layout in layouts():
        assert sum(int(name[0]) for name in layout) <= 7
        assert sum(AMOUNTS[name] for name in layout) <= MIG_SHARES
    assert ("3g.20gb", "3g.20gb") in layouts()
    assert ("1g.5gb", "2g.10gb", "4g.20gb") in layouts()
    assert ("3g.20gb", "4g.20gb") in layouts()
    assert ("4g.20gb", "4g.20gb") not in layouts()


def test_amounts_tell_profiles_apart():
    """No two profiles of a model have the same amount."""
    for profiles in MIG_PROFILES.values():
        assert len({one.amount for one in profiles}) == len({one.name for one in profiles}) == 6


def test_slices_stay_off_gpus_that_are_not_sliced():
    """Whole GPUs may be anywhere, slices on nodes with such alone, other shares nowhere."""
    system = system_of([(4, 1), (4, 1)])
    system = replace(system, groups=(replace(system.groups[0], sliced=False), system.groups[1]))
    fits = [units_on_idle(system, Request(1, (0, amount))).tolist() for amount in (15, 112, 20)]
    assert fits == [[0, 7], [1, 1], [0, 0]]
