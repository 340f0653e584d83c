"""The protocol of an allocator, and how units fill nodes."""

from typing import NamedTuple, Protocol

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.allocation import Interval, NodeAllocation
from hpcsched.system.system import IntArray, System


class Room(NamedTuple):
    """What an allocator may choose from, for one job.

    `fits` is how many of the job's units each node can hold, `[N]`; `available` what is free by
    resource type and node, `[R, N]`; `unit_request` what a unit asks for, `[R]`; `problem` the
    dispatching problem of the round, where there is one.
    """

    fits: IntArray
    available: IntArray
    unit_request: tuple[int, ...]
    system: System
    problem: DispatchingProblem | None = None


class Allocator(Protocol):
    """Decides on which nodes a job's units go."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place all units; at least as many fit, which the caller has made sure of."""


class SlotAllocator(Protocol):
    """An allocator that can also choose among slots (see `hpcsched.system.space.SlotSpace`)."""

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        """Take the units' slots out of `free` and return them; at least as many are free."""


def fill(units: int, fits: IntArray, preference: IntArray | None = None) -> NodeAllocation:
    """Place units on nodes in order of preference, as many on each as fit.

    `preference` is a permutation of the nodes, `[N]`; without it they come by number.
    """
    room = fits if preference is None else fits[preference]
    upto = room.cumsum()
    last = int(upto.searchsorted(units))
    nodes = room[: last + 1].nonzero()[0]
    placed = room[nodes]
    placed[-1] -= upto[last] - units
    if preference is not None:
        nodes = preference[nodes]
        ascending = nodes.argsort()
        nodes, placed = nodes[ascending], placed[ascending]
    return NodeAllocation(tuple(nodes.tolist()), tuple(placed.tolist()))
