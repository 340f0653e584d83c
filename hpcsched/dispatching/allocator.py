"""Protocols of allocators, and the function that fills nodes in order of preference."""

from typing import NamedTuple, Protocol

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.allocation import Interval, NodeAllocation
from hpcsched.system.system import IntArray, System


class Room(NamedTuple):
    """Free capacity that an allocator may use for one job.

    Attributes
    ----------
    fits
        Number of the job's units that each node can hold, `[N]`.
    available
        Free amount by resource type and node, `[R, N]`.
    unit_request
        Amount of each resource type that a unit requests, `[R]`.
    system
        The system.
    problem
        Dispatching problem of the round; None outside of a round.
    """

    fits: IntArray
    available: IntArray
    unit_request: tuple[int, ...]
    system: System
    problem: DispatchingProblem | None = None


class Allocator(Protocol):
    """Protocol of an allocator: chooses the nodes of a job's units."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place all units of a job on nodes.

        Parameters
        ----------
        units
            Number of units to place; the caller has checked that as many fit.
        room
            Free capacity for this job.

        Returns
        -------
        NodeAllocation
            Nodes in ascending order, and the number of units on each.
        """


class SlotAllocator(Protocol):
    """Protocol of an allocator that can also choose slots (`hpcsched.system.space.SlotSpace`)."""

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Take slots for a job out of `free`.

        Parameters
        ----------
        units
            Number of slots to take; at least as many are free.
        free
            Ascending intervals of free slots; changed in place.

        Returns
        -------
        tuple[Interval, ...]
            The intervals taken.
        """


def fill(units: int, fits: IntArray, preference: IntArray | None = None) -> NodeAllocation:
    """Place units on nodes in order of preference, as many on each as fit.

    Parameters
    ----------
    units
        Number of units to place, at most the sum of `fits`.
    fits
        Number of units that each node can hold, `[N]`.
    preference
        Permutation of the nodes, `[N]`, best first; None: ascending node numbers.

    Returns
    -------
    NodeAllocation
        Nodes in ascending order, and the number of units on each.
    """
    room = fits if preference is None else fits[preference]
    # Cumulative sums find the last node that is needed without a loop over nodes in Python.
    upto = room.cumsum()
    last = int(upto.searchsorted(units))
    nodes = room[: last + 1].nonzero()[0]
    placed = room[nodes]
    # The last node takes only the units that are left.
    placed[-1] -= upto[last] - units
    if preference is not None:
        # Allocations list nodes in ascending order, whatever the order of preference.
        nodes = preference[nodes]
        ascending = nodes.argsort()
        nodes, placed = nodes[ascending], placed[ascending]
    return NodeAllocation(tuple(nodes.tolist()), tuple(placed.tolist()))
