"""Check of the protocol of allocators, on sample workloads."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room, allocation_fault, slot_fault
from hpcsched.plugins.product_check import product_fault
from hpcsched.system.allocation import Interval, NodeAllocation
from hpcsched.testing.audit import audit_replay
from hpcsched.testing.dispatcher import expect_equal
from hpcsched.testing.replaying import replay
from hpcsched.testing.sample_replays import SEEDS, backfilling, expect, noted, told, workloads


class _Asked:
    """Allocator that asks another, and checks its answers."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Return its allocation, checked."""
        fits, available = room.fits.copy(), room.available.copy()
        allocation = self._allocator.allocate(units, room)
        whose = f"{units} units where {fits.tolist()} fit"
        expect(allocation_fault(allocation, units, fits), whose)
        same = np.array_equal(room.fits, fits) and np.array_equal(room.available, available)
        expect(None if same else "expected the room unchanged, found it changed", whose)
        return allocation


class _AskedForSlots(_Asked):
    """The same for an allocator that also chooses slots."""

    def __init__(self, allocator: Any) -> None:
        super().__init__(allocator)
        self._slots = allocator

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Return its slots, checked."""
        before = list(free)
        taken: tuple[Interval, ...] = self._slots.allocate_slots(units, free)
        expect(slot_fault(taken, units, before, free), f"{units} slots of {before}")
        return taken


def check_allocator(make: Callable[[], Allocator], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads with allocators, and check every allocation.

    All units must be placed on nodes where they fit, in ascending order; the given room must stay
    as it is; and a replay must be the same when it is repeated. An allocator of slots must take
    free ones, as many as asked for, out of the list of free ones.

    Raises
    ------
    AssertionError
        If an allocation is wrong; a note names the workload.
    """
    expect(product_fault(make(), "allocator"))
    for workload, where in workloads(seeds):
        for aggregated in (False, True) if workload.uniform else (False,):
            with noted(f"{where}, as {'slots' if aggregated else 'nodes'}"):
                replays = []
                for _ in range(2):
                    allocator = make()
                    slots = hasattr(allocator, "allocate_slots")
                    asked = _AskedForSlots(allocator) if slots else _Asked(allocator)
                    dispatcher = backfilling(allocator=asked)
                    observers = told(allocator)
                    replays.append(
                        replay(
                            dispatcher,
                            workload.jobs,
                            workload.system,
                            observers=observers,
                            aggregated=aggregated,
                        )
                    )
                audit_replay(replays[0], workload.jobs, workload.system)
                first, again = replays
                expect_equal(first, again, "the second time")
