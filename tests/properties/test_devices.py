"""Devices in the core against a naive replay, and all rules against the limits of each device."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched._core import DeviceRequest
from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.dispatching.rules.device_allocators import (
    DotProduct,
    FragmentationGradientDescent,
    GpuBestFit,
    GpuClustering,
    GpuPacking,
    RandomNode,
)
from hpcsched.errors import DecisionError
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.replay_admission import admitted
from hpcsched.system.space import NodeAllocation, units_on_idle
from hpcsched.system.system import Devices, NodeGroup, Request, System
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from tests.builders import lists, parts, traced
from tests.properties.naive_devices import SHARES, Unit, replay
from tests.properties.naive_scores import Scores
from tests.simulation.test_preemption import RULES
from tests.strategies import tries

AMOUNTS = (0, 100, 300, 450, 500, 700, 1000, 2000, 3000)


def system_of(sizes):
    """Return a system of nodes with these numbers of cores and devices."""
    groups = (NodeGroup(f"n{k}", 1, {"core": c, "gpu": d}) for k, (c, d) in enumerate(sizes))
    return System(tuple(groups), {"gpu": Fraction(1, SHARES)}, devices=Devices("gpu", SHARES))


def named(nodes):
    """Return the groups of nodes by their numbers; None: any."""
    return None if nodes is None else frozenset(f"n{k}" for k in nodes)


@st.composite
def cases(draw, most=25, *, some_nodes=False):
    """Draw nodes with cores and devices, and jobs of which each fits on the idle system.

    With `some_nodes` some jobs may use some nodes alone.
    """
    sizes = draw(
        st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4)), min_size=1, max_size=4).filter(
            lambda sizes: any(devices for _, devices in sizes)
        )
    )
    system, jobs = system_of(sizes), []
    for _ in range(draw(st.integers(1, most))):
        submit, cores = draw(st.integers(0, 20)), draw(st.integers(0, 2))
        amount = draw(st.sampled_from(AMOUNTS))
        if cores == amount == 0:
            continue
        nodes = None
        if some_nodes and draw(st.integers(0, 3)) == 0:
            nodes = tuple(draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1)))
        room = int(units_on_idle(system, Request(1, (cores, amount), named(nodes))).sum())
        if room:
            units = min(draw(st.sampled_from([1, 1, 2, 3, 5])), room)
            jobs.append((submit, draw(st.integers(1, 20)), units, cores, amount, nodes))
    jobs.sort(key=lambda job: job[:5])
    return sizes, [Unit(k, *job) for k, job in enumerate(jobs, 1)]


def outcome(system, jobs, rule, *, in_python=False):
    """Replay jobs; return start, and node and devices of each unit, of each job."""
    given_jobs = [
        traced(
            one.number,
            one.submit,
            one.units,
            one.run_time,
            (one.cores, one.amount),
            requested_time=one.run_time + one.number * 7 % 13,
            node_groups=named(one.nodes),
        )
        for one in jobs
    ]
    given_parts = parts(system, rule, predictor=RequestedTime())
    loop = EventLoop(given_parts, places=True, in_python=in_python)
    found = {}
    for left, *_ in loop.run(admitted(columns_of(given_jobs, RequestNumbers(), 3), given_parts)):
        place = device = 0
        for k, number in enumerate(left.sequence.tolist()):
            nodes = left.nodes[place : left.last_place[k]].tolist()
            units = left.node_units[place : left.last_place[k]].tolist()
            bits = left.devices[device : left.last_device[k]].tolist()
            place, device = left.last_place[k], left.last_device[k]
            of_units = [
                node for node, count in zip(nodes, units, strict=True) for _ in range(count)
            ]
            assert len(bits) in (0, len(of_units))
            taken = [[d for d in range(64) if one >> d & 1] for one in bits]
            found[given_jobs[number].job.job_id] = (
                int(left.start_time[k]),
                list(zip(of_units, taken or [[]] * len(of_units), strict=True)),
            )
    return found


@settings(max_examples=600, deadline=None)
@given(cases())
def test_the_core_gives_devices_as_a_naive_replay_does(case):
    """Starts, nodes and devices are the same."""
    sizes, jobs = case
    assert outcome(system_of(sizes), jobs, lists(option="greedy")) == replay(sizes, jobs)


BY_SCORE = {
    "fgd": FragmentationGradientDescent,
    "gpu-packing": GpuPacking,
    "gpu-clustering": GpuClustering,
    "dot-product": DotProduct,
    "gpu-best-fit": GpuBestFit,
    "random": RandomNode,
}


@tries(2000)
@given(cases(80, some_nodes=True), st.sampled_from(sorted(BY_SCORE)), st.integers(0, 5))
def test_allocators_by_score_against_naive_ones(case, name, seed):
    """Starts, nodes and devices are the same."""
    sizes, jobs = case
    naive = Scores(name, sizes, seed)
    rule = lists(option="greedy")
    rule.allocator = BY_SCORE[name](seed)
    expected = replay(sizes, jobs, place=naive.place, note_arrival=naive.note_arrival)
    assert outcome(system_of(sizes), jobs, rule) == expected


ALLOCATORS = (FirstFit, BestFit, *BY_SCORE.values())


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(sorted(RULES)), st.sampled_from(ALLOCATORS))
def test_no_rule_takes_a_device_twice(case, rule, allocator):
    """Every job runs once, on devices that have room for it throughout."""
    sizes, jobs = case
    dispatcher = RULES[rule]()
    dispatcher.allocator = allocator()
    found = outcome(system_of(sizes), jobs, dispatcher)
    assert found.keys() == {job.number for job in jobs}
    changes = []
    for job in jobs:
        start, places = found[job.number]
        assert start >= job.submit
        assert len(places) == job.units
        for node, devices in places:
            assert len(devices) == -(-job.amount // SHARES)
            for sign, time in ((1, start), (-1, start + job.run_time)):
                changes.append((time, sign, node, None, job.cores))
                changes += [(time, sign, node, d, min(job.amount, SHARES)) for d in devices]
    held = {}
    for _, sign, node, device, amount in sorted(changes, key=lambda one: one[:2]):
        key = node, device
        held[key] = held.get(key, 0) + sign * amount
        assert held[key] <= (sizes[node][0] if device is None else SHARES)


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(sorted(RULES)), st.sampled_from([FirstFit, BestFit]))
def test_rounds_that_python_asks_for_give_the_same(case, rule, allocator):
    """A rule decides alike where it is asked round by round, as `hyper` and reasons have it."""
    sizes, jobs = case
    found = []
    for in_python in (False, True):
        dispatcher = RULES[rule]()
        dispatcher.allocator = allocator()
        options = dispatcher.options
        dispatcher._filled = ProblemState(dispatcher.rule, dispatcher.allocator, **options)
        found.append(outcome(system_of(sizes), jobs, dispatcher, in_python=in_python))
    assert found[0] == found[1]


class OneByOne:
    """Dispatcher in Python that starts all jobs on the first node, as if GPUs were a number."""

    plans_past_outages = False

    def dispatch(self, problem):
        """Return the starts of all jobs for which there are shares."""
        free, starts = int(problem.free_amounts[1, 0]), []
        for job in problem.queue:
            if job.unit_request[1] <= free:
                free -= job.unit_request[1]
                starts.append(Start(job.job_id, NodeAllocation((0,), (1,))))
        return Decision(tuple(starts))


def test_a_start_without_a_device_is_a_fault_of_its_dispatcher():
    """Two GPUs have 0.8 free beside two jobs of 0.6, but no third one has room for itself."""
    jobs = [Unit(k, 0, 10, 1, 1, 600) for k in range(1, 4)]
    with pytest.raises(DecisionError, match="round 1: job 3: node 0 has no device that is free"):
        outcome(system_of([(9, 2)]), jobs, OneByOne(), in_python=True)
    jobs = [*jobs[:2], Unit(3, 0, 10, 1, 1, 400)]
    found = outcome(system_of([(9, 2)]), jobs, OneByOne(), in_python=True)
    assert found == {1: (0, [(0, [0])]), 2: (0, [(0, [1])]), 3: (0, [(0, [0])])}


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=5),
    st.sampled_from([(1, 100), (1, 300), (1, 450), (1, 700), (1, 1000), (2, 1000), (3, 1000)]),
)
def test_as_many_units_fit_as_some_way_of_placing_them_one_by_one(free, asked):
    """The number of units is the largest over all orders in which devices are filled."""
    count, amount = asked
    most = 0
    for order in permutations(range(len(free))):
        left, units = list(free), 0
        while True:
            chosen = [k for k in order if left[k] >= amount][:count]
            if len(chosen) < count:
                break
            for k in chosen:
                left[k] -= amount
            units += 1
        most = max(most, units)
    assert DeviceRequest(count, amount, positions=[1]).units_that_fit(free) == most
