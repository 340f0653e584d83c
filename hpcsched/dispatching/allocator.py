"""Protocols of allocators, and the function that fills nodes in order of preference."""

from typing import NamedTuple, Protocol

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray, System


class Room(NamedTuple):
    """Free capacity that an allocator may use for one job.

    Attributes
    ----------
    fits
        Number of the job's units that each node can hold, `[N]`; read-only.
    available
        Free amount by resource type and node, `[R, N]`; read-only.
    unit_request
        Amount of each resource type that a unit requests, `[R]`.
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
        """Return the nodes of a job, ascending, and the number of units on each.

        On each node at least 1 and at most what fits, `units` in all, as many as fit at least.
        Another result ends the run.
        """


def placed_by(allocator: Allocator, units: int, room: Room) -> NodeAllocation:
    """Return the allocator's nodes for a job; those of a third party's plugin are checked."""
    if not is_third_party(allocator):
        return allocator.allocate(units, room)
    # Read-only: a change would be one of the round's own account of free capacity.
    given = room._replace(fits=_read_only(room.fits), available=_read_only(room.available))
    allocation = allocator.allocate(units, given)
    fault = allocation_fault(allocation, units, room.fits)
    if fault is not None:
        raise PluginError(f"{named('allocator', allocator)}: {fault}")
    return allocation


def _read_only(array: IntArray) -> IntArray:
    view = array.view()
    view.flags.writeable = False
    return view


def allocation_fault(allocation: object, units: int, fits: IntArray) -> str | None:
    """Return why an allocation does not place the units on nodes with room; None if it does."""
    if not isinstance(allocation, NodeAllocation):
        return f"expected a NodeAllocation, found {allocation!r}"
    nodes, placed = allocation
    for numbers in (nodes, placed):
        if not isinstance(numbers, tuple) or not all(type(number) is int for number in numbers):
            return f"expected tuples of whole numbers, found {allocation!r}"
    if len(nodes) != len(placed) or list(nodes) != sorted(set(nodes)):
        return f"expected ascending nodes with the units on each, found {allocation!r}"
    for node, count in zip(nodes, placed, strict=True):
        if not 0 <= node < len(fits):
            return f"expected nodes from 0 to {len(fits) - 1}, found {node}"
        if not 1 <= count <= fits[node]:
            return f"expected at most {fits[node]} units on node {node}, found {count}"
    return None if sum(placed) == units else f"expected {units} units, found {sum(placed)}"


def fill(units: int, fits: IntArray, preference: IntArray | None = None) -> NodeAllocation:
    """Place units on nodes in order of preference, as many on each as fit.

    Parameters
    ----------
    fits
        Number of units that each node can hold, `[N]`; if less than `units` in all, it is a
        ValueError.
    preference
        Permutation of the nodes, `[N]`, best first; None: ascending node numbers.
    """
    room = fits if preference is None else fits[preference]
    # Cumulative sums find the last node that is needed without a loop over nodes in Python.
    upto = room.cumsum()
    last = int(upto.searchsorted(units))
    if last == len(room):
        raise ValueError(f"{units} units asked for, {int(room.sum())} fit")
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
