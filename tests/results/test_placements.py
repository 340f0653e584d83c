"""Allocations of many jobs as columns at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.results.placements import placement_columns
from hpcsched.system.allocation import SlotAllocation, SlotMap
from tests.strategies import tries


@st.composite
def slot_allocations(draw):
    """Draw allocations of slots on one system, with nodes that have none, and absent ones."""
    per_node = draw(st.lists(st.integers(0, 4), max_size=6))
    slot_map = SlotMap(np.array([*per_node, 1]))
    slots = st.sets(st.integers(0, slot_map.total - 1), min_size=1)

    def intervals(chosen: set[int]) -> tuple[tuple[int, int], ...]:
        return tuple((slot, slot + 1) for slot in sorted(chosen))

    whole = st.tuples(st.integers(0, slot_map.total - 1), st.integers(1, slot_map.total)).map(
        lambda pair: ((pair[0], min(pair[0] + pair[1], slot_map.total)),)
    )
    some = st.one_of(st.none(), slots.map(intervals), whole)
    return [
        None if chosen is None else SlotAllocation(chosen, slot_map)
        for chosen in draw(st.lists(some, max_size=6))
    ]


@tries(150)
@given(slot_allocations())
def test_slots_of_many_jobs(allocations: list[SlotAllocation | None]) -> None:
    """Worked out together, nodes and units are those that each allocation gives alone."""
    nodes, units = placement_columns(allocations)
    assert nodes.to_pylist() == [None if a is None else list(a.nodes) for a in allocations]
    assert units.to_pylist() == [None if a is None else list(a.units) for a in allocations]
