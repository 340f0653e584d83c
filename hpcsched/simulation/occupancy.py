"""What is taken of the system during a replay, in the form that suits the jobs."""

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

    def free_amounts(self) -> tuple[int, ...]:
        """Return what is free of each resource type, over all nodes."""


class NodeOccupancy(NodeSpace):
    """Kept per node and resource type."""

    slot_map = None

    def snapshot(self) -> Snapshot:
        """Return a copy of the free amounts."""
        available = self.available.copy()
        available.flags.writeable = False
        return None, None, available

    def free_amounts(self) -> tuple[int, ...]:
        """Return what is free of each resource type, over all nodes."""
        return tuple(self.available.sum(axis=1).tolist())


class SlotOccupancy(SlotSpace):
    """Kept as slots, for jobs that all ask for the same per unit and constrain no nodes."""

    def __init__(self, system: System, uniform_request: tuple[int, ...]) -> None:
        super().__init__(SlotMap(slots_per_node(system, uniform_request)))
        self._totals = list(zip(system.totals, uniform_request, strict=True))

    def snapshot(self) -> Snapshot:
        """Return the free slots."""
        return tuple(self.free), self.slot_map, None

    def free_amounts(self) -> tuple[int, ...]:
        """Return what is free of each resource type, over all nodes."""
        taken = self.slot_map.total - self.count
        return tuple([total - taken * amount for total, amount in self._totals])


def idle_system(system: System, uniform_request: tuple[int, ...] | None) -> Occupancy:
    """Return an idle system: as slots where one unit request is that of every job."""
    if uniform_request is None:
        return NodeOccupancy(system)
    return SlotOccupancy(system, uniform_request)
