"""Free resources of a simulated system, per node or as slots."""

from collections import Counter
from typing import Protocol

from hpcsched.system.shared_resources import next_change
from hpcsched.system.space import (
    Allocation,
    Amounts,
    Interval,
    NodeSpace,
    SlotMap,
    SlotSpace,
    node_draw,
    own_draw,
    slots_per_node,
)
from hpcsched.system.system import IntArray, Request, System


class OverdrawError(Exception):
    """A start draws more from a shared resource than is free."""


class SharedResourceAccounts:
    """Amount drawn from each shared resource, and number of jobs on each node.

    A node is switched on with its first job and off with its last; in between it draws once. A
    capacity that falls below the drawn amount ends no job: nothing that draws from the shared
    resource starts until there is room again.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._per_node = node_draw(system)
        self._jobs_on: Counter[int] = Counter()
        self._drawn = [0] * len(system.shared_resources)

    @property
    def drawn(self) -> Amounts:
        """Amount drawn from each shared resource, `[P]`."""
        return tuple(self._drawn)

    def next_change(self, now: int) -> int:
        """Return the first second after `now` at which a capacity changes."""
        return next_change(self._system.shared_resources, now)

    def check(self, now: int, allocation: Allocation, request: Request) -> None:
        """Check that a start draws no more from a shared resource than it offers at `now`."""
        newly_on = sum(1 for node in allocation.nodes if not self._jobs_on[node])
        own = own_draw(self._system, request)
        for p, resource in enumerate(self._system.shared_resources):
            amount = own[p] + newly_on * self._per_node[p]
            free = resource.capacity_at(now) - self._drawn[p]
            if amount and amount > free:
                raise OverdrawError(
                    f"shared resource {resource.name}: {amount} would be drawn, {free} free"
                )

    def started(self, allocation: Allocation, request: Request) -> None:
        """Add the draw of a job that has started."""
        newly_on = 0
        for node in allocation.nodes:
            newly_on += not self._jobs_on[node]
            self._jobs_on[node] += 1
        self._add(own_draw(self._system, request), newly_on, 1)

    def ended(self, allocation: Allocation, request: Request) -> None:
        """Subtract the draw of a job that has ended."""
        off = 0
        for node in allocation.nodes:
            self._jobs_on[node] -= 1
            if not self._jobs_on[node]:
                del self._jobs_on[node]
                off += 1
        self._add(own_draw(self._system, request), off, -1)

    def _add(self, own: Amounts, nodes: int, sign: int) -> None:
        for p, amount in enumerate(own):
            self._drawn[p] += sign * (amount + nodes * self._per_node[p])


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
