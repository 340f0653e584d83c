"""Allocators place exactly the units asked for, within what fits, on the nodes they prefer."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.system.system import NodeGroup, System
from tests.builders import ALLOCATORS, alike
from tests.strategies import mixed_systems, tries


@st.composite
def rooms(draw):
    """Draw what an allocator may choose from, and a number of units that fits."""
    system = draw(mixed_systems(max_count=3))
    rows = [[draw(st.integers(0, amount)) for amount in node] for node in system.capacity.tolist()]
    request = draw(
        st.lists(st.integers(0, 2), min_size=len(system.totals), max_size=len(system.totals))
        .filter(any)
    )  # fmt: skip
    fits = [min(row[r] // amount for r, amount in enumerate(request) if amount) for row in rows]
    if not any(fits):
        rows[0], fits[0] = list(request), 1
    room = Room(np.array(fits), np.array(rows).T, tuple(request), system)
    return room, draw(st.integers(1, sum(fits)))


def placed_on(allocation, nodes):
    """Return how many units are on each node."""
    units = dict(zip(allocation.nodes, allocation.units, strict=True))
    return [units.get(node, 0) for node in range(nodes)]


def in_order(units, fits, preference):
    """Return how many units are on each node if nodes are filled in order of preference."""
    placed = [0] * len(fits)
    for node in preference:
        placed[node] = min(units, fits[node])
        units -= placed[node]
    return placed


def free_share(room, node):
    """Return the mean free share of a node over the resource types that it has."""
    capacity = room.system.capacity[node].tolist()
    free = room.available[:, node].tolist()
    shares = [Fraction(f, c) for f, c in zip(free, capacity, strict=True) if c]
    return sum(shares, Fraction(0)) / max(len(shares), 1)


@pytest.mark.parametrize("name", ALLOCATORS)
@tries(100)
@given(drawn=rooms())
def test_all_units_are_placed_within_what_fits(name, drawn):
    """Every unit is placed, on nodes in ascending order, and no node gets more than fit."""
    room, units = drawn
    allocation = ALLOCATORS[name].allocate(units, room)
    assert sum(allocation.units) == units
    assert list(allocation.nodes) == sorted(set(allocation.nodes))
    for node, count in zip(allocation.nodes, allocation.units, strict=True):
        assert 1 <= count <= room.fits[node]
    assert all(type(number) is int for number in (*allocation.nodes, *allocation.units))


@tries(100)
@given(rooms())
def test_first_fit_fills_in_the_order_of_nodes(drawn):
    """First fit fills the lowest-numbered nodes with room."""
    room, units = drawn
    fits = room.fits.tolist()
    allocation = FirstFit().allocate(units, room)
    assert placed_on(allocation, len(fits)) == in_order(units, fits, range(len(fits)))


@tries(100)
@given(rooms())
def test_best_fit_fills_the_fullest_first(drawn):
    """Best fit fills the nodes with the smallest free share, the lowest number among equals."""
    room, units = drawn
    fits = room.fits.tolist()
    fullest = sorted(range(len(fits)), key=lambda node: (free_share(room, node), node))
    allocation = BestFit().allocate(units, room)
    assert placed_on(allocation, len(fits)) == in_order(units, fits, fullest)


def test_what_is_scarce_is_kept_free():
    """A job that needs no accelerator goes to nodes without one, and else to the commonest kind."""
    system = System(
        (
            NodeGroup("rare", 1, {"core": 2, "mic": 1}),
            NodeGroup("common", 1, {"core": 2, "gpu": 1}),
            NodeGroup("other", 1, {"core": 0, "gpu": 3}),
            NodeGroup("plain", 1, {"core": 2}),
        )
    )
    room = Room(np.array([2, 2, 0, 2]), system.capacity.T, system.request({"core": 1}), system)
    placed = [placed_on(KeepScarce().allocate(units, room), 4) for units in (2, 4, 6)]
    assert placed == [[0, 0, 0, 2], [0, 2, 0, 2], [2, 2, 0, 2]]


def test_best_fit_keeps_an_idle_node_idle():
    """Best fit goes where there is least room, even if the node comes later."""
    system = alike(3, core=4)
    available = np.array([[4, 2, 1]])
    room = Room(available[0], available, (1,), system)
    assert placed_on(BestFit().allocate(2, room), 3) == [0, 1, 1]
