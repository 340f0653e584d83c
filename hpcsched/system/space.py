"""Allocations of nodes to jobs, free resources of nodes, and draws from shared resources."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple, Self

import numpy as np

from hpcsched.system.system import Devices, IdleRoom, IntArray, Request, System, shape_key


class _Listed(NamedTuple):
    nodes: tuple[int, ...]
    units: tuple[int, ...]


class NodeAllocation(_Listed):
    """Nodes of a job, and its units on each.

    Attributes
    ----------
    nodes
        Node numbers, ascending, `[K]`.
    units
        Number of units on each of them, at least 1, `[K]`.
    devices
        Parts of devices that each unit takes, as bits, in the order of nodes; empty where they are
        not known, or there are none.
    """

    devices: tuple[int, ...] = ()

    @classmethod
    def of_places(cls, places: Sequence[tuple[int, int, int]]) -> Self:
        """Return the allocation of `places`, in which a node may follow itself."""
        units: dict[int, int] = {}
        for node, count, _ in places:
            units[node] = units.get(node, 0) + count
        allocation = cls(tuple(units), tuple(units.values()))
        return allocation.with_devices(devices for _, _, devices in places if devices)

    def with_devices(self, devices: Iterable[int]) -> Self:
        """Return the same allocation with these devices."""
        allocation = type(self)(*self)
        allocation.devices = tuple(devices)
        return allocation

    @cached_property
    def places(self) -> list[tuple[int, int, int]]:
        """Nodes, units on each, and devices of a unit; units with devices stand one by one."""
        if not self.devices:
            return [(node, count, 0) for node, count in zip(*self, strict=True)]
        nodes = chain.from_iterable(map(repeat, *self))
        return [(node, 1, devices) for node, devices in zip(nodes, self.devices, strict=True)]

    @cached_property
    def arrays(self) -> tuple[IntArray, IntArray]:
        """`nodes` and `units` as arrays, read-only."""
        arrays = np.array(self, dtype=np.int64)
        # Allocations are shared by results and observers: writing into one would change another.
        arrays.flags.writeable = False
        return arrays[0], arrays[1]


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
        Numbers of units, `[N]` or `[T, N]`. Of devices, as many are taken to be whole as can be.
    """
    fits: IntArray | None = None
    for name, row, amount in zip(
        system.resource_types, available, request.unit_request, strict=True
    ):
        if amount:
            room = row // amount
            if system.devices is not None and system.devices.resource_type == name:
                room = units_on_devices(system.devices, row, amount)
                if amount % system.devices.shares and system.devices.profiles:
                    room = room * np.array([g.sliced for g in system.groups])[system.group_of]
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


def units_on_devices(devices: Devices, free: IntArray, amount: int) -> IntArray:
    """Return how many units that ask for so much of devices fit, if at most one is used in part.

    Parameters
    ----------
    free
        Amounts that are free, of any shape.
    """
    count, each, positions = devices.asked(amount)
    if count == 0:
        return np.zeros_like(free)
    whole, part = np.divmod(free, devices.shares)
    on_device = devices.shares // devices.parts // each * len(positions)
    shared: IntArray = whole * on_device + part // amount
    return shared if count == 1 else whole // count


def units_on_idle(system: System, request: Request) -> IntArray:
    """Return the number of units of a request that fit on each idle node, `[N]`."""
    return units_that_fit(system, system.capacity.T, request)


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
    return idle_room(system, Request(1, unit_request, one_unit_per_node=one_unit_per_node)).units


_MOST_KNOWN = 10_000
"""Size of the cache of rooms: requests are few in most traces; drawn ones are as many as jobs."""


def idle_room(system: System, request: Request) -> IdleRoom:
    """Return the room of a request on the idle system, where it may run."""
    known, key = system.idle_rooms, shape_key(request)
    room = known.get(key)
    if room is None:
        if len(known) == _MOST_KNOWN:
            known.clear()
        fits = units_on_idle(system, request)
        room = known[key] = IdleRoom(int(fits.sum()), int((fits > 0).sum()))
    return room


def most_of(system: System, request: Request, resource: int, most: int) -> int:
    """Return the largest amount of a resource type with which all units of a request fit.

    Parameters
    ----------
    resource
        Index of the resource type.
    """
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if idle_room(system, asking(request, resource, middle)).units >= request.units:
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
    system: System, allocation: NodeAllocation, request: Request
) -> tuple[list[int], IntArray]:
    """Return the nodes of an allocation, `K` of them, and the amounts held on each, `[R, K]`."""
    nodes = list(allocation.nodes)
    if request.exclusive:
        return nodes, system.capacity.T[:, nodes]
    return nodes, np.multiply.outer(np.array(request.unit_request), np.array(allocation.units))


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

    def claim(self, allocation: NodeAllocation, request: Request) -> None:
        """Allocate resources; raise OvercommitError if they are not free."""
        nodes, amounts = allocated_amounts(self.system, allocation, request)
        free = self.available[:, nodes]
        self._check(nodes, amounts, free)
        if request.exclusive:  # what it holds is whole nodes; what it asks for must fit on them
            _, asked = allocated_amounts(self.system, allocation, request._replace(exclusive=False))
            self._check(nodes, asked, amounts)
        self.available[:, nodes] = free - amounts

    def _check(self, nodes: list[int], amounts: IntArray, free: IntArray) -> None:
        """Raise OvercommitError if a requested amount exceeds the free one, both `[R, K]`."""
        if (amounts > free).any():
            resource, k = np.argwhere(amounts > free)[0].tolist()
            raise OvercommitError(
                nodes[k],
                f"{amounts[resource, k]} {self.system.resource_types[resource]} asked for,"
                f" {free[resource, k]} free",
            )

    def release(self, allocation: NodeAllocation, request: Request) -> None:
        """Release the resources of an allocation."""
        nodes, amounts = allocated_amounts(self.system, allocation, request)
        self.available[:, nodes] += amounts


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
    nodes = min(request.units, idle_room(system, request).nodes)
    return tuple(amount + each * nodes for amount, each in zip(own, per_node, strict=True))


def drawn_by_all(
    system: System, running: Sequence[tuple[NodeAllocation, Request]]
) -> list[Amounts]:
    """Return the draw of each of the jobs that run together, `[K, P]`.

    A node's draw is charged to the last job on it, so that, in order of predicted ends, each draw
    is the amount released at that job's end.
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
