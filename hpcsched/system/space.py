"""Allocations of nodes to jobs, and free resources in two representations with equal answers.

`NodeSpace` keeps availability per node and resource type, and is always right. `SlotSpace` keeps
intervals of free slots, and is right where all unit requests are equal: then the number of free
slots alone decides whether a job fits.

A job's own draw does not depend on its placement. Beside it, a node that is switched on may draw,
once for all jobs on it. The nodes that a job switches on are known when it has been placed; before,
it is charged for the largest possible number, so that no start draws more than was planned for.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, cast

import numpy as np

from hpcsched.system.system import IntArray, Request, ShapeKey, System, shape_key


class Allocation(Protocol):
    """Node numbers, ascending and without repetition, and the units of a job on each."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """The node numbers."""

    @property
    def units(self) -> tuple[int, ...]:
        """Number of units on each of `nodes`, at least 1."""


class _Listed(NamedTuple):
    nodes: tuple[int, ...]
    units: tuple[int, ...]


class NodeAllocation(_Listed):
    """Allocation as a list of nodes, with cached arrays of nodes and units.

    Attributes
    ----------
    nodes
        Node numbers, ascending, `[K]`.
    units
        Number of units on each of them, at least 1, `[K]`.
    """

    @cached_property
    def node_array(self) -> IntArray:
        """`nodes` as an array, read-only."""
        return _frozen(self.nodes)

    @cached_property
    def unit_array(self) -> IntArray:
        """`units` as an array, read-only."""
        return _frozen(self.units)


def _frozen(numbers: tuple[int, ...]) -> IntArray:
    array = np.array(numbers, dtype=np.int64)
    # Allocations are shared by results and observers: writing into one would change another.
    array.flags.writeable = False
    return array


Interval = tuple[int, int]
"""First slot, and the slot after the last one."""


class SlotMap:
    """Numbering of the slots of a system on which all unit requests are equal.

    Where all unit requests are equal, a node is worth a whole number of *slots*, the units that it
    can hold at once, and a unit may take any of them. Slots are numbered node by node.

    Attributes
    ----------
    per_node
        Slots of each node, `[N]`.
    first
        First slot of each node, and the number of slots, `[N + 1]`.
    """

    def __init__(self, slots_per_node: IntArray) -> None:
        self.per_node = slots_per_node.copy()
        self.first = np.concatenate(([0], np.cumsum(slots_per_node)))
        self.per_node.flags.writeable = self.first.flags.writeable = False
        self.total = int(self.first[-1])
        self._one_each = bool((slots_per_node == 1).all())

    def numbers_like(self, other: "SlotMap") -> bool:
        """Return whether another map numbers its slots in the same way."""
        return np.array_equal(self.per_node, other.per_node)

    def spread(self, intervals: tuple[Interval, ...]) -> NodeAllocation:
        """Return the nodes of slots, with the number of slots on each.

        Parameters
        ----------
        intervals
            Disjoint intervals of slots, ascending.
        """
        # One slot a node, as on exclusive nodes: slots are nodes, and no search is needed.
        if self._one_each:
            nodes = tuple(node for low, high in intervals for node in range(low, high))
            return NodeAllocation(nodes, (1,) * len(nodes))
        slots = np.concatenate([np.arange(low, high) for low, high in intervals])
        owners = np.searchsorted(self.first, slots, side="right") - 1
        node_numbers, units = np.unique(owners, return_counts=True)
        return NodeAllocation(tuple(node_numbers.tolist()), tuple(units.tolist()))


class SlotAllocation(NamedTuple):
    """Allocation as ascending intervals of slots; nodes are computed on demand."""

    intervals: tuple[Interval, ...]
    slot_map: SlotMap

    @property
    def nodes(self) -> tuple[int, ...]:
        """Node numbers."""
        return self.slot_map.spread(self.intervals).nodes

    @property
    def units(self) -> tuple[int, ...]:
        """The units on each of `nodes`."""
        return self.slot_map.spread(self.intervals).units


class OvercommitError(Exception):
    """Allocation that exceeds the free resources of a node."""

    def __init__(self, node: int, why: str) -> None:
        super().__init__(why)
        self.node = node


def units_that_fit(system: System, available: IntArray, request: Request) -> IntArray:
    """Return the number of units of a request that fit on each node.

    Parameters
    ----------
    available
        Free amounts by resource type and node, `[R, N]`, or over `T` steps of time `[R, T, N]`.
    request
        An exclusive request fits on idle nodes only. With `one_unit_per_node`, at most one unit
        fits on a node.

    Returns
    -------
    IntArray
        Numbers of units, `[N]` or `[T, N]`.
    """
    fits: IntArray | None = None
    for row, amount in zip(available, request.unit_request, strict=True):
        if amount:
            room = row // amount
            fits = room if fits is None else np.minimum(fits, room)
    if fits is None:
        raise ValueError("a unit must ask for at least one resource type")
    # At most one unit a node, whatever else is free there.
    if request.one_unit_per_node:
        fits = np.minimum(fits, 1)
    if request.exclusive:
        capacity = system.capacity.T if available.ndim == 2 else system.capacity.T[:, np.newaxis]
        # An exclusive unit needs a node without any other job, not merely enough free resources.
        fits = np.where((available == capacity).all(axis=0), fits, 0)
    if request.node_groups is not None:
        allowed = [g.name in request.node_groups for g in system.groups]
        fits = np.where(np.array(allowed)[system.group_of], fits, 0)
    if request.allowed_nodes is not None:
        named = np.zeros(system.node_count, dtype=np.bool_)
        named[list(request.allowed_nodes)] = True
        fits = np.where(named, fits, 0)
    return fits


def slots_per_node(system: System, unit_request: tuple[int, ...]) -> IntArray:
    """Return the number of units of this request that fit on each idle node, `[N]`."""
    return units_that_fit(system, system.capacity.T, Request(1, unit_request))


def room_for(
    system: System, unit_request: tuple[int, ...], *, one_unit_per_node: bool = False
) -> int:
    """Return the number of units of this request that fit on the idle system.

    Parameters
    ----------
    unit_request
        Amounts of a unit, `[R]`.
    one_unit_per_node
        Count at most one unit on each node.
    """
    unit = Request(1, unit_request, one_unit_per_node=one_unit_per_node)
    return int(units_that_fit(system, system.capacity.T, unit).sum())


_MOST_KNOWN = 10_000
"""Size of the cache of rooms: requests are few in most traces; drawn ones are as many as jobs."""


class Rooms:
    """Numbers of units that fit on an idle system, by request."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: dict[ShapeKey, int] = {}

    def room_for(self, request: Request) -> int:
        """Return the number of units with this request that fit where they may run."""
        key = shape_key(request)
        room = self._known.get(key)
        if room is None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            room = int(units_that_fit(self.system, self.system.capacity.T, request).sum())
            self._known[key] = room
        return room

    def most_of(self, request: Request, resource: int, most: int) -> int:
        """Return the largest amount of a resource type with which all units of a request fit.

        Parameters
        ----------
        resource
            Index of the resource type.
        """
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.room_for(asking(request, resource, middle)) >= request.units:
                low = middle
            else:
                high = middle - 1
        return low


def asking(request: Request, resource: int, amount: int) -> Request:
    """Return a request with another amount of a resource type.

    Parameters
    ----------
    resource
        Index of the resource type.
    amount
        Amount of a unit, in the system's units.
    """
    amounts = list(request.unit_request)
    amounts[resource] = amount
    return request._replace(unit_request=tuple(amounts))


def allocated_amounts(
    system: System, allocation: Allocation, request: Request
) -> tuple[list[int], IntArray]:
    """Return the nodes of an allocation and the amounts allocated on each.

    Returns
    -------
    tuple
        Node numbers, `K` of them, and amounts, `[R, K]`.
    """
    nodes = list(allocation.nodes)
    if request.exclusive:
        return nodes, system.capacity.T[:, nodes]
    units = np.array(allocation.units, dtype=np.int64)
    return nodes, np.multiply.outer(np.array(request.unit_request, dtype=np.int64), units)


class NodeSpace:
    """Availability per resource type and node, `[R, N]`, updated by claims and releases.

    Parameters
    ----------
    available
        Initial free amounts, `[R, N]`, which are copied; the whole capacity if None.
    """

    def __init__(self, system: System, available: IntArray | None = None) -> None:
        self.system = system
        source = system.capacity.T if available is None else available
        self.available: IntArray = np.ascontiguousarray(source).copy()

    def copy(self) -> "NodeSpace":
        """Return an independent copy."""
        return NodeSpace(self.system, self.available)

    def claim(self, allocation: Allocation, request: Request) -> Allocation:
        """Allocate resources, and return the allocation to release later."""
        nodes, amounts = allocated_amounts(self.system, allocation, request)
        free = self.available[:, nodes]
        self._check(nodes, amounts, free)
        if request.exclusive:  # what it holds is whole nodes; what it asks for must fit on them
            asked = np.multiply.outer(np.array(request.unit_request), np.array(allocation.units))
            self._check(nodes, asked, amounts)
        self.available[:, nodes] = free - amounts
        return allocation

    def _check(self, nodes: list[int], amounts: IntArray, free: IntArray) -> None:
        """Raise OvercommitError if a requested amount exceeds the free one, both `[R, K]`."""
        if (amounts > free).any():
            resource, k = np.argwhere(amounts > free)[0].tolist()
            raise OvercommitError(
                nodes[k],
                f"{amounts[resource, k]} {self.system.resource_types[resource]} asked for,"
                f" {free[resource, k]} free",
            )

    def release(self, allocation: Allocation, request: Request) -> None:
        """Release the resources of an allocation."""
        nodes, amounts = allocated_amounts(self.system, allocation, request)
        self.available[:, nodes] += amounts


class SlotSpace:
    """Ascending disjoint intervals of free slots, updated by claims and releases.

    Parameters
    ----------
    free
        Initially free intervals, ascending and not touching; all slots if None.
    """

    def __init__(self, slot_map: SlotMap, free: Iterable[Interval] | None = None) -> None:
        self.slot_map = slot_map
        whole = [(0, slot_map.total)] if slot_map.total else []
        self.free: list[Interval] = whole if free is None else list(free)
        self.count = sum(high - low for low, high in self.free)

    def claim(self, allocation: Allocation, request: Request) -> SlotAllocation:
        """Allocate slots, the lowest on each node if the allocation names nodes."""
        if not isinstance(allocation, SlotAllocation):
            allocation = SlotAllocation(self._slots_on(allocation), self.slot_map)
        free = self.free
        for low, high in allocation.intervals:
            k = bisect_right(free, (low, self.slot_map.total)) - 1
            start, end = free[k] if k >= 0 else (0, 0)
            if end < high:
                taken = max(low, end)
                node = self.slot_map.spread(((taken, taken + 1),)).nodes[0]
                raise OvercommitError(node, "more units asked for than are free")
            if start == low:
                if end == high:
                    del free[k]
                else:
                    free[k] = (high, end)
            else:
                free[k] = (start, low)
                if end > high:
                    free.insert(k + 1, (high, end))
            self.count -= high - low
        return allocation

    def release(self, allocation: Allocation, request: Request) -> None:
        """Release the slots of an allocation that `claim` returned."""
        free = self.free
        for low, high in cast(SlotAllocation, allocation).intervals:
            # Touching intervals are joined, so that equal states have equal lists of intervals.
            k = bisect_right(free, (low,))
            joins_left = k > 0 and free[k - 1][1] == low
            if k < len(free) and free[k][0] == high:
                if joins_left:
                    free[k - 1 : k + 1] = [(free[k - 1][0], free[k][1])]
                else:
                    free[k] = (low, free[k][1])
            elif joins_left:
                free[k - 1] = (free[k - 1][0], high)
            else:
                free.insert(k, (low, high))
            self.count += high - low

    def _slots_on(self, allocation: Allocation) -> tuple[Interval, ...]:
        """Return free slots on the nodes of an allocation, one for each of its units."""
        placed = zip(allocation.nodes, allocation.units, strict=True)
        found: list[Interval] = []
        for low, high in (one for node, units in placed for one in self._lowest_on(node, units)):
            # Touching intervals are joined, as those of neighbouring nodes.
            if found and found[-1][1] == low:
                low = found.pop()[0]  # noqa: PLW2901
            found.append((low, high))
        return tuple(found)

    def _bounds(self) -> tuple[IntArray, IntArray]:
        """Return the begins of the free intervals and the slots after their ends, as arrays."""
        bounds = np.array(self.free, dtype=np.int64).reshape(-1, 2)
        return bounds[:, 0], bounds[:, 1]

    def _lowest_on(self, node: int, units: int) -> list[Interval]:
        first, last = self.slot_map.first[node : node + 2].tolist()
        found: list[Interval] = []
        k = max(bisect_left(self.free, (first + 1,)) - 1, 0)
        missing = units
        while missing and k < len(self.free) and self.free[k][0] < last:
            low, high = max(self.free[k][0], first), min(self.free[k][1], last)
            if low < high:
                found.append((low, min(high, low + missing)))
                missing -= found[-1][1] - low
            k += 1
        if missing:
            raise OvercommitError(node, f"{units} units asked for, {units - missing} free")
        return found

    def free_per_node(self) -> IntArray:
        """Return the number of free slots on each node, `[N]`."""
        low, high = self._bounds()
        before = np.concatenate(([0], np.cumsum(high - low)))
        # So many are free below the first slot of each node: those of the stretches that begin
        # there, without what lies beyond it of the last of them.
        k = np.searchsorted(low, self.slot_map.first)
        beyond = np.where(k > 0, np.append(high, 0)[k - 1] - self.slot_map.first, 0)
        return np.diff(before[k] - np.maximum(beyond, 0))


Amounts = tuple[int, ...]
"""Amount of each shared resource of a system, `[P]`."""


def own_draw(system: System, request: Request) -> Amounts:
    """Return a job's draw from shared resources, apart from the draw of its nodes, `[P]`.

    It does not depend on the placement. Beside it, a node that is switched on may draw, once for
    all jobs on it. The nodes that a job switches on are known when it has been placed; before, it
    is charged for the largest possible number (`most_draw`), so that no start draws more than was
    planned for.
    """
    draws = []
    for resource in system.shared_resources:
        draw = resource.draw
        if draw.traced:
            draws.append(
                sum(amount for name, amount in request.shared_requests if name == resource.name)
            )
            continue
        per_unit = sum(
            amount * draw.per.get(name, 0)
            for name, amount in zip(system.resource_types, request.unit_request, strict=True)
        )
        draws.append(draw.per_job + request.units * per_unit)
    return tuple(draws)


def node_draw(system: System) -> Amounts:
    """Return the draw of a node from each shared resource while any job runs on it, `[P]`."""
    return tuple(
        0 if resource.draw.traced else resource.draw.per_node
        for resource in system.shared_resources
    )


def most_draw(system: System, request: Request) -> Amounts:
    """Return the largest possible draw of a job, `[P]`: alone on each of its nodes."""
    own, per_node = own_draw(system, request), node_draw(system)
    if not any(per_node):
        return own
    nodes = min(request.units, _nodes_for(system, request))
    return tuple(amount + each * nodes for amount, each in zip(own, per_node, strict=True))


def drawn_by_all(system: System, running: Sequence[tuple[Allocation, Request]]) -> list[Amounts]:
    """Return the draw of each of the jobs that run together, `[K, P]`; the sum is exact.

    Parameters
    ----------
    running
        Allocation and request of each job. A node's draw is charged to the last job on it, so that,
        in order of predicted ends, each draw is the amount released at that job's end.
    """
    draws = [own_draw(system, request) for _, request in running]
    per_node = node_draw(system)
    if not any(per_node):
        return draws
    # Later jobs overwrite earlier ones: the last job on a node switches it off.
    last = {node: k for k, (where, _) in enumerate(running) for node in where.nodes}
    switched_on = [0] * len(draws)
    for k in last.values():
        switched_on[k] += 1
    return [
        tuple(amount + each * nodes for amount, each in zip(own, per_node, strict=True))
        for own, nodes in zip(draws, switched_on, strict=True)
    ]


def total(draws: Iterable[Amounts], count: int) -> Amounts:
    """Return the sum of draws, `[P]`.

    Parameters
    ----------
    draws
        Draws of any number of jobs, each `[P]`.
    """
    sums = [0] * count
    for draw in draws:
        for p, amount in enumerate(draw):
            sums[p] += amount
    return tuple(sums)


def _nodes_for(system: System, request: Request) -> int:
    """Return the number of idle nodes that can hold a unit of a request."""
    known = system.nodes_by_shape
    key = request.unit_request, request.node_groups
    # Sets of allowed nodes may be large and many, so what is known of them is not kept.
    if request.allowed_nodes is None and key in known:
        return known[key]
    nodes = int((units_that_fit(system, system.capacity.T, request) > 0).sum())
    if request.allowed_nodes is None:
        known[key] = nodes
    return nodes
