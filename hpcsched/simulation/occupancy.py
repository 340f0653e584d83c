"""Free resources of a simulated system, per node or as slots."""

from typing import Protocol

from hpcsched.system.space import (
    Allocation,
    Interval,
    NodeSpace,
    SlotMap,
    SlotSpace,
    slots_per_node,
)
from hpcsched.system.system import IntArray, Request, System

Snapshot = tuple[tuple[Interval, ...] | None, SlotMap | None, IntArray | None]
"""Free slots, their map, and free amounts `[R, N]`, as in a dispatching problem."""


class Occupancy(Protocol):
    """Protocol of the account of free resources."""

    @property
    def slot_map(self) -> SlotMap | None:
        """Numbers of slots, where slots are counted."""

    def claim(self, allocation: Allocation, request: Request) -> Allocation:
        """Take resources and return the allocation to release later.

        Raises
        ------
        OvercommitError
            If they are not free.
        """

    def release(self, allocation: Allocation, request: Request) -> None:
        """Release resources."""

    def snapshot(self) -> Snapshot:
        """Return the free resources as a dispatching problem states them."""


class NodeOccupancy(NodeSpace):
    """Free amounts per node and resource type."""

    slot_map = None

    def snapshot(self) -> Snapshot:
        """Return a copy of the free amounts."""
        available = self.available.copy()
        available.flags.writeable = False
        return None, None, available


class SlotOccupancy(SlotSpace):
    """Free slots, for jobs with equal units and without constraints on nodes."""

    def __init__(self, system: System, uniform_request: tuple[int, ...]) -> None:
        super().__init__(SlotMap(slots_per_node(system, uniform_request)))

    def snapshot(self) -> Snapshot:
        """Return the free slots."""
        return tuple(self.free), self.slot_map, None


def idle_system(system: System, uniform_request: tuple[int, ...] | None) -> Occupancy:
    """Return an idle system: as slots if all jobs have the unit request `uniform_request`."""
    if uniform_request is None:
        return NodeOccupancy(system)
    return SlotOccupancy(system, uniform_request)
