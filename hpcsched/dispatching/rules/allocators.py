"""Allocators: rankings of the nodes, which are filled in that order."""

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.allocator import Room, fill
from hpcsched.dispatching.rules.pressure import Pressure
from hpcsched.registration import builtin
from hpcsched.system.space import Interval, NodeAllocation


@builtin(
    "allocator",
    "first-fit",
    summary="the lowest-numbered nodes with room",
    aliases=("first_fit",),
)
class FirstFit:
    """Allocator that fills nodes in the order in which the system declares them."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the lowest-numbered nodes with room."""
        return fill(units, room.fits)

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Take the lowest slots, which lie on the lowest-numbered nodes with room.

        Parameters
        ----------
        free
            Ascending intervals of free slots; changed in place.

        Raises
        ------
        ValueError
            Fewer slots are free.
        """
        # Intervals are ascending, so the lowest slots are a prefix of them.
        missing = units
        for k, (low, high) in enumerate(free):
            missing -= high - low
            if missing <= 0:
                end = high + missing
                chosen = (*free[:k], (low, end))
                free[: k + 1] = [(end, high)] if missing else []
                return chosen
        raise ValueError(f"{units} slots asked for, {units - missing} free")


@builtin(
    "allocator",
    "best-fit",
    summary="the fullest nodes with room",
    aliases=("best_fit",),
)
class BestFit:
    """Allocator that fills the fullest nodes first, so that large blocks stay free.

    Nodes are ranked by the mean free share of their resource types, ascending; ties go to the
    lowest number (as in AccaSim's best fit: Galleguillos, thesis 2020, section 3.1).
    """

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units on the nodes with the least free."""
        # Stable: ties go to the lowest node number, as in the compiled core.
        return fill(units, room.fits, np.argsort(free_share(room), kind="stable"))


@builtin(
    "allocator",
    "keep-scarce",
    summary="nodes with the least capacity that the job does not use; the fullest first",
    aliases=("keep_scarce",),
)
class KeepScarce:
    """Allocator that keeps scarce resources free for the jobs that request them; then best fit.

    A node's price for a job is the loss to other jobs: over the resource types that the job does
    not request, the sum of the node's free amount as a share of the whole system's capacity, times
    the pressure on that type, which is the amount requested by waiting jobs and allocated to
    running jobs, as a share of the same. Among equal prices the nodes that offer least of those
    types come first. So a job that needs no accelerator goes to nodes without one while there is
    room, and otherwise to those whose accelerators are in least demand.
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
            # Types are added up in a fixed order: the core must get the same rounded sums.
            if not asked and total:
                share = row / total
                price += pressure * share
                offer += share
        # lexsort is stable, and its last key is the first to count.
        return fill(units, room.fits, np.lexsort((free_share(room), offer, price)))


def free_share(room: Room) -> npt.NDArray[np.float64]:
    """Return each node's mean free share over the resource types that it has.

    Returns
    -------
    npt.NDArray[np.float64]
        Shares between 0 and 1, `[N]`.
    """
    capacity = room.system.capacity.T
    shares = np.divide(room.available, capacity, out=np.zeros(capacity.shape), where=capacity > 0)
    offered = np.maximum((capacity > 0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / offered)
