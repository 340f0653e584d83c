"""Allocations: the nodes of a job, and the number of its units on each."""

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from hpcsched.system.system import IntArray


class Allocation(Protocol):
    """Node numbers, ascending and without repetition, and the units of a job on each."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """The node numbers."""

    @property
    def units(self) -> tuple[int, ...]:
        """Number of units on each of `nodes`, at least 1."""


class _Listed(NamedTuple):
    nodes: tuple[int, ...]
    units: tuple[int, ...]


class NodeAllocation(_Listed):
    """Allocation as a list of nodes, with cached arrays of nodes and units.

    Attributes
    ----------
    nodes
        Node numbers, ascending, `[K]`.
    units
        Number of units on each of them, at least 1, `[K]`.
    """

    @cached_property
    def node_array(self) -> IntArray:
        """`nodes` as an array, read-only."""
        return _frozen(self.nodes)

    @cached_property
    def unit_array(self) -> IntArray:
        """`units` as an array, read-only."""
        return _frozen(self.units)


def _frozen(numbers: tuple[int, ...]) -> IntArray:
    array = np.array(numbers, dtype=np.int64)
    # Allocations are shared by results and observers: writing into one would change another.
    array.flags.writeable = False
    return array


Interval = tuple[int, int]
"""First slot, and the slot after the last one."""


class SlotMap:
    """Numbering of the slots of a system on which all unit requests are equal.

    Where all unit requests are equal, a node is worth a whole number of *slots*, the units that it
    can hold at once, and a unit may take any of them. Slots are numbered node by node.

    Attributes
    ----------
    per_node
        Slots of each node, `[N]`.
    first
        First slot of each node, and the number of slots, `[N + 1]`.
    """

    def __init__(self, slots_per_node: IntArray) -> None:
        self.per_node = slots_per_node.copy()
        self.first = np.concatenate(([0], np.cumsum(slots_per_node)))
        self.per_node.flags.writeable = self.first.flags.writeable = False
        self.total = int(self.first[-1])
        self._one_each = bool((slots_per_node == 1).all())

    def numbers_like(self, other: "SlotMap") -> bool:
        """Return whether another map numbers its slots in the same way."""
        return np.array_equal(self.per_node, other.per_node)

    def spread(self, intervals: tuple[Interval, ...]) -> NodeAllocation:
        """Return the nodes of slots, with the number of slots on each.

        Parameters
        ----------
        intervals
            Disjoint intervals of slots, ascending.
        """
        # One slot a node, as on exclusive nodes: slots are nodes, and no search is needed.
        if self._one_each:
            nodes = tuple(node for low, high in intervals for node in range(low, high))
            return NodeAllocation(nodes, (1,) * len(nodes))
        slots = np.concatenate([np.arange(low, high) for low, high in intervals])
        owners = np.searchsorted(self.first, slots, side="right") - 1
        node_numbers, units = np.unique(owners, return_counts=True)
        return NodeAllocation(tuple(node_numbers.tolist()), tuple(units.tolist()))


class SlotAllocation(NamedTuple):
    """Allocation as ascending intervals of slots; nodes are computed on demand."""

    intervals: tuple[Interval, ...]
    slot_map: SlotMap

    @property
    def nodes(self) -> tuple[int, ...]:
        """Node numbers."""
        return self.slot_map.spread(self.intervals).nodes

    @property
    def units(self) -> tuple[int, ...]:
        """The units on each of `nodes`."""
        return self.slot_map.spread(self.intervals).units
