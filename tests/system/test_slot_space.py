"""Intervals of free slots, against a plain set of slots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.space import (
    NodeAllocation,
    OvercommitError,
    SlotAllocation,
    SlotMap,
    SlotSpace,
)
from hpcsched.system.system import Request
from hpcsched.workload.job import Job
from tests.strategies import tries

JOB = Job(0, 0, Request(1, (1,)), 1)
NODES = st.lists(st.integers(0, 4), min_size=1, max_size=6)


def slots_in(intervals):
    """Return the slots of intervals."""
    return [slot for low, high in intervals for slot in range(low, high)]


def intervals_of(slots):
    """Return slots as intervals, ascending and apart."""
    intervals = []
    for slot in sorted(slots):
        if intervals and intervals[-1][1] == slot:
            intervals[-1] = (intervals[-1][0], slot + 1)
        else:
            intervals.append((slot, slot + 1))
    return tuple(intervals)


def owners(per_node):
    """Return the node of each slot."""
    return [node for node, count in enumerate(per_node) for _ in range(count)]


def per_node_of(slots, per_node):
    """Return how many of the slots are on each node."""
    owner = owners(per_node)
    counts = [0] * len(per_node)
    for slot in slots:
        counts[owner[slot]] += 1
    return counts


def space_of(per_node):
    """Return a space with all slots free."""
    return SlotSpace(SlotMap(np.array(per_node, dtype=np.int64)))


def check(space, free, per_node):
    """Compare a space with a set of free slots."""
    assert tuple(space.free) == intervals_of(free)
    assert space.count == len(free)
    assert space.free_per_node().tolist() == per_node_of(free, per_node)


def draw_claim(data, space, free, per_node):
    """Draw an allocation that fits, in slots or in nodes, and return it with its slots."""
    chosen = data.draw(st.sets(st.sampled_from(sorted(free)), min_size=1))
    if data.draw(st.booleans()):
        return SlotAllocation(intervals_of(chosen), space.slot_map), chosen
    counts = per_node_of(chosen, per_node)
    nodes = [node for node, count in enumerate(counts) if count]
    owner = owners(per_node)
    lowest = {
        slot
        for node in nodes
        for slot in [slot for slot in sorted(free) if owner[slot] == node][: counts[node]]
    }
    return NodeAllocation(tuple(nodes), tuple(counts[node] for node in nodes)), lowest


@tries(100)
@given(data=st.data())
def test_claims_and_releases(data):
    """Any order of claims and releases leaves the same slots free as a set does."""
    per_node = data.draw(NODES)
    space = space_of(per_node)
    free = set(range(sum(per_node)))
    held = []
    for _ in range(data.draw(st.integers(1, 12))):
        if held and (not free or data.draw(st.booleans())):
            claimed, slots = held.pop(data.draw(st.integers(0, len(held) - 1)))
            space.release(claimed, JOB)
            free |= slots
        elif free:
            allocation, slots = draw_claim(data, space, free, per_node)
            claimed = space.claim(allocation, JOB)
            assert set(slots_in(claimed.intervals)) == slots
            held.append((claimed, slots))
            free -= slots
        check(space, free, per_node)


@tries(100)
@given(data=st.data())
def test_slots_taken_by_others_are_refused(data):
    """A claim of a slot that is not free is an error that names the slot's node."""
    per_node = data.draw(NODES.filter(any))
    space = space_of(per_node)
    every = range(sum(per_node))
    taken = data.draw(st.sets(st.sampled_from(every), min_size=1))
    space.claim(SlotAllocation(intervals_of(taken), space.slot_map), JOB)
    wanted = data.draw(st.sets(st.sampled_from(every), min_size=1).filter(taken.intersection))
    with pytest.raises(OvercommitError) as caught:
        space.claim(SlotAllocation(intervals_of(wanted), space.slot_map), JOB)
    owner = owners(per_node)
    assert caught.value.node in {owner[slot] for slot in wanted & taken}


@tries(100)
@given(data=st.data())
def test_more_units_than_a_node_has_free_are_refused(data):
    """A claim of too many units on a node is an error that names the node and changes nothing."""
    per_node = data.draw(NODES)
    space = space_of(per_node)
    node = data.draw(st.integers(0, len(per_node) - 1))
    with pytest.raises(OvercommitError) as caught:
        space.claim(NodeAllocation((node,), (per_node[node] + 1,)), JOB)
    assert caught.value.node == node
    check(space, set(range(sum(per_node))), per_node)


@tries(100)
@given(data=st.data())
def test_slots_are_spread_over_their_nodes(data):
    """An allocation in slots names the nodes that own them, each once, with its units."""
    per_node = data.draw(NODES.filter(any))
    slots = data.draw(st.sets(st.sampled_from(range(sum(per_node))), min_size=1))
    slot_map = SlotMap(np.array(per_node, dtype=np.int64))
    allocation = SlotAllocation(intervals_of(slots), slot_map)
    counts = per_node_of(slots, per_node)
    assert dict(zip(allocation.nodes, allocation.units, strict=True)) == {
        node: count for node, count in enumerate(counts) if count
    }
    assert list(allocation.nodes) == sorted(allocation.nodes)
    assert all(type(number) is int for number in (*allocation.nodes, *allocation.units))
