"""What is free of a system, in the form that suits the jobs, as dispatching problems tell it."""

from typing import Protocol

from hpcsched.system.allocation import Allocation, Interval, SlotMap
from hpcsched.system.request import Request
from hpcsched.system.space import NodeSpace, SlotSpace, slots_per_node
from hpcsched.system.system import IntArray, System

Snapshot = tuple[tuple[Interval, ...] | None, SlotMap | None, IntArray | None]
"""Free slots, their map, and free amounts `[R, N]`, as in a dispatching problem."""


class Occupancy(Protocol):
    """The truth about what is free."""

    @property
    def slot_map(self) -> SlotMap | None:
        """How slots are numbered, where they are what is counted."""

    def claim(self, allocation: Allocation, request: Request) -> Allocation:
        """Take room and return what to release; raises OvercommitError where it is not free."""

    def release(self, allocation: Allocation, request: Request) -> None:
        """Give room back."""

    def snapshot(self) -> Snapshot:
        """Return what a dispatching problem says of it."""


class NodeOccupancy(NodeSpace):
    """Kept per node and resource type."""

    slot_map = None

    def snapshot(self) -> Snapshot:
        """Return a copy of the free amounts."""
        available = self.available.copy()
        available.flags.writeable = False
        return None, None, available


class SlotOccupancy(SlotSpace):
    """Kept as slots, for jobs that all ask for the same per unit and constrain no nodes."""

    def __init__(self, system: System, uniform_request: tuple[int, ...]) -> None:
        super().__init__(SlotMap(slots_per_node(system, uniform_request)))

    def snapshot(self) -> Snapshot:
        """Return the free slots."""
        return tuple(self.free), self.slot_map, None


def idle_system(system: System, uniform_request: tuple[int, ...] | None) -> Occupancy:
    """Return an idle system: as slots where one unit request is that of every job."""
    if uniform_request is None:
        return NodeOccupancy(system)
    return SlotOccupancy(system, uniform_request)
