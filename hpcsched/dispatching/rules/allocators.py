"""Allocators: each ranks the nodes and fills them in that order."""

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.rules.pressure import Pressure
from hpcsched.registration import builtin
from hpcsched.system.allocation import Interval, NodeAllocation


@builtin(
    "allocator",
    "first-fit",
    summary="the lowest-numbered nodes with room",
    former_names=["first_fit"],
)
class FirstFit:
    """Fills nodes in the order in which the system declares them."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the lowest-numbered nodes with room."""
        return fill(units, room.fits)

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Take the lowest slots, which lie on the lowest-numbered nodes with room."""
        missing = units
        for k, (low, high) in enumerate(free):
            missing -= high - low
            if missing <= 0:
                end = high + missing
                chosen = (*free[:k], (low, end))
                free[: k + 1] = [(end, high)] if missing else []
                return chosen
        raise ValueError(f"{units} slots asked for, {units - missing} free")


@builtin("allocator", "best-fit", summary="the fullest nodes with room", former_names=["best_fit"])
class BestFit:
    """Fills the fullest nodes first, so that large pieces stay free.

    A node's room is the mean free share of its resource types; the smallest room comes first, and
    among equals the lowest number (as AccaSim's best fit: Galleguillos, thesis 2020, section 3.1).
    """

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the nodes with the least free."""
        return fill(units, room.fits, np.argsort(free_share(room), kind="stable"))


@builtin(
    "allocator",
    "keep-scarce",
    summary="nodes that offer least of what the job does not need; the fullest among them",
    former_names=["keep_scarce"],
)
class KeepScarce:
    """Keeps free what is scarce and not asked for; then best fit.

    A node's price for a job is what taking it would keep from others: over the resource types that
    the job does not ask for, the sum of the node's free amount as a share of the whole system's
    capacity, times the pressure on that type: what waiting jobs ask for and running jobs hold, as a
    share of the same. Among equal prices the nodes that offer least of those types come first. So a
    job that needs no accelerator goes to nodes without one while there is room, and else to those
    whose accelerators nobody wants at present.
    """

    def __init__(self) -> None:
        self._pressure = Pressure()

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the cheapest nodes, the fullest first among equals."""
        price, offer = np.zeros(len(room.fits)), np.zeros(len(room.fits))
        for row, asked, total, pressure in zip(
            room.available,
            room.unit_request,
            room.system.totals,
            self._pressure.of(room),
            strict=True,
        ):
            if not asked and total:
                share = row / total
                price += pressure * share
                offer += share
        return fill(units, room.fits, np.lexsort((free_share(room), offer, price)))


def free_share(room: Room) -> npt.NDArray[np.float64]:
    """Return each node's mean free share over the resource types that it has, `[N]`."""
    capacity = room.system.capacity.T
    shares = np.divide(room.available, capacity, out=np.zeros(capacity.shape), where=capacity > 0)
    offered = np.maximum((capacity > 0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / offered)
