"""Systems: groups of identical nodes with amounts of several resource types; requests of jobs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ForwardRef, NamedTuple

from hpcsched.system.mig import MEMORY_SLICES, MigProfile
from hpcsched.system.shared_resources import SharedResource


class Request(NamedTuple):
    """Request for `units` identical units on nodes, and for shared resources.

    The fields between `unit_request` and `shared_requests` restrict the placement of a unit; a
    further restriction of units belongs there, too.

    Attributes
    ----------
    units
        Number of units; several may share a node.
    unit_request
        Amounts of a unit, in the order of the system's resource types.
    node_groups
        Names of the groups that may be used; None: any.
    allowed_nodes
        Numbers of the nodes that may be used; None: any.
    exclusive
        Whether other jobs are kept off its nodes.
    one_unit_per_node
        Whether each unit needs a node of its own, which units of other jobs may share (PBS:
        `place=scatter`).
    shared_requests
        Draw from shared resources according to the trace, by their names.
    """

    units: int
    unit_request: tuple[int, ...]
    node_groups: frozenset[str] | None = None
    allowed_nodes: frozenset[int] | None = None
    exclusive: bool = False
    one_unit_per_node: bool = False
    shared_requests: tuple[tuple[str, int], ...] = ()


class IdleRoom(NamedTuple):
    """Room of a request on the idle system.

    Attributes
    ----------
    units
        Number of units that fit.
    nodes
        Number of nodes with room for a unit.
    """

    units: int
    nodes: int


ShapeKey = tuple[object, ...]
"""Equal for requests of one shape: the same number of their units fits on any node in any state."""

_ANYWHERE = Request(1, ())[2:-1]


def shape_key(request: Request) -> ShapeKey:
    """Return the key of a request's shape: all fields but `units` and `shared_requests`."""
    return request[1:-1]


def is_constrained(request: Request) -> bool:
    """Return whether a request restricts the nodes of its units, or the sharing of them.

    Units of such a request are not counted as slots, of which any is as good as any other.
    """
    return request[2:-1] != _ANYWHERE


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]
else:
    # Scenarios are read, checked and described without NumPy, which takes its time.
    IntArray = ForwardRef("IntArray")


NOT_SCORED = "mem"
"""Resource type that scores of nodes, and the usual requests of devices, do not look at."""


class DevicesAsked(NamedTuple):
    """Devices that a unit asks for.

    Attributes
    ----------
    number
        Number of devices; 0 if there are none such.
    amount
        Amount of each part of a device that it takes.
    positions
        Sets of parts of a device that it may take, as bits; they are disjoint.
    """

    number: int
    amount: int
    positions: tuple[int, ...] = (1,)


class Devices(NamedTuple):
    """Devices of the nodes, such as GPUs, of which a unit takes whole ones, or a part of one.

    Attributes
    ----------
    resource_type
        Resource type that counts them.
    shares
        Amount of a device, in the system's units.
    profiles
        MIG profiles of those that are sliced. A unit then asks for such a slice, or for whole
        devices; otherwise for any share of one, or for whole ones.
    """

    resource_type: str
    shares: int
    profiles: tuple[MigProfile, ...] = ()

    @property
    def parts(self) -> int:
        """Number of parts of a device that are told apart: its memory slices, or 1."""
        return MEMORY_SLICES if self.profiles else 1

    def asked(self, amount: int) -> DevicesAsked:
        """Return what an amount stands for.

        Examples
        --------
        >>> gpus = Devices("gpu", 1000)
        >>> gpus.asked(300).amount, gpus.asked(2000).number, gpus.asked(1500).number
        (300, 2, 0)
        """
        each = self.shares // self.parts
        if amount % self.shares == 0:
            return DevicesAsked(amount // self.shares, each, ((1 << self.parts) - 1,))
        if not self.profiles:
            return DevicesAsked(int(amount < self.shares), amount)
        fitting = (one.placements for one in self.profiles if one.amount == amount)
        placements = next(fitting, ())
        return DevicesAsked(int(bool(placements)), each, placements)


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Group of identical nodes.

    Attributes
    ----------
    resources
        Declared capacity of each node by resource type; memory in bytes.
    model
        Model of their devices; None if not declared.
    sliced
        Whether these may be divided into MIG slices, where a system has such.
    """

    name: str
    count: int
    resources: Mapping[str, int]
    model: str | None = None
    sliced: bool = False


@dataclass(frozen=True)
class System:
    """Nodes of all groups, numbered from 0 in the order of the declaration, and shared resources.

    Inside a system, amounts are counted in `units`. Capacities are rounded down to whole units and
    requests up, so that nothing fits that did not fit before. A request is a tuple of such amounts
    in the order of `resource_types`.

    Attributes
    ----------
    units
        Declared amount that one unit stands for, by resource type; 1 if not listed.
    devices
        Devices that are told apart; None: amounts of all resource types are pooled.
    totals
        Capacity of the whole system, `[R]`, in units.
    """

    groups: tuple[NodeGroup, ...]
    units: Mapping[str, int | Fraction] = field(default_factory=dict)
    shared_resources: tuple[SharedResource, ...] = ()
    devices: Devices | None = None
    resource_types: tuple[str, ...] = field(init=False)
    totals: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        types = dict.fromkeys(name for group in self.groups for name in group.resources)
        object.__setattr__(self, "resource_types", tuple(types))
        totals = (sum(g.count * self._offered(g, name) for g in self.groups) for name in types)
        object.__setattr__(self, "totals", tuple(totals))

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(group.count for group in self.groups)

    @cached_property
    def capacity(self) -> IntArray:
        """Capacity per node and resource type, `[N, R]`, read-only."""
        return self._by_node(
            [self._offered(g, name) for name in self.resource_types] for g in self.groups
        )

    @cached_property
    def group_of(self) -> IntArray:
        """The index of each node's group, `[N]`, read-only."""
        return self._by_node(range(len(self.groups)))

    def _by_node(self, by_group: Iterable[object]) -> IntArray:
        """Repeat the value of each group for its nodes."""
        import numpy as np  # noqa: PLC0415 (see `IntArray`)

        values = np.array(list(by_group), dtype=np.int64)
        by_node = values.repeat([group.count for group in self.groups], axis=0)
        # Shared by all spaces of a run; each makes its own copy to write to.
        by_node.flags.writeable = False
        return by_node

    @cached_property
    def device_capacity(self) -> IntArray:
        """Capacity of each part of each device of each node, `[N, D]`, read-only.

        Parts of a device follow one another; without devices, `D` is 0.
        """
        if self.devices is None:
            return self.capacity[:, :0]
        name, shares, _ = self.devices
        counts = [self._offered(g, name) // shares * self.devices.parts for g in self.groups]
        each = shares // self.devices.parts
        return self._by_node([each] * n + [0] * (max(counts) - n) for n in counts)

    def request(self, amounts: Mapping[str, int | Fraction]) -> tuple[int, ...]:
        """Convert declared amounts to a request, rounded up to whole units.

        Types that are not listed get 0; an unknown one raises KeyError.
        """
        unknown = [name for name in amounts if name not in self.resource_types]
        if unknown:
            raise KeyError(unknown[0])
        # Rounded up: a request must never shrink when amounts are counted in units.
        return tuple(
            int(-(-amounts.get(name, 0) // self._unit(name))) for name in self.resource_types
        )

    def declared(self, request: Sequence[int]) -> dict[str, int | float]:
        """Convert a request to declared amounts by resource type; shares are no whole numbers."""
        named = zip(self.resource_types, request, strict=True)
        exact = {name: Fraction(amount * self._unit(name)) for name, amount in named}
        return {
            name: int(one) if one.denominator == 1 else float(one) for name, one in exact.items()
        }

    def loses(
        self, amounts: Mapping[str, int | Fraction], allowed: frozenset[int] | None = None
    ) -> bool:
        """Return whether rounding to units keeps a request off every node that could hold it.

        `allowed` has the numbers of the nodes to consider; None: all.
        """
        request = dict(zip(self.resource_types, self.request(amounts), strict=True))
        groups = self.groups
        if allowed is not None:
            groups = tuple(groups[k] for k in sorted(set(self.group_of[sorted(allowed)].tolist())))
        could = any(all(n <= g.resources.get(k, 0) for k, n in amounts.items()) for g in groups)
        can = any(all(n <= self._offered(g, k) for k, n in request.items()) for g in groups)
        return could and not can

    def _unit(self, name: str) -> int | Fraction:
        return self.units.get(name, 1)

    def _offered(self, group: NodeGroup, name: str) -> int:
        return int(group.resources.get(name, 0) // self._unit(name))

    def node_name(self, node: int) -> str:
        """Return a node's name: its group's name and its number in the group, from 0."""
        group = int(self.group_of[node])
        return f"{self.groups[group].name}-{node - sum(g.count for g in self.groups[:group])}"

    @cached_property
    def _demand_scale(self) -> tuple[int, ...]:
        # A common multiple of the totals makes every share a whole number.
        common = math.lcm(*(total for total in self.totals if total))
        return tuple(common // total if total else 0 for total in self.totals)

    @cached_property
    def idle_rooms(self) -> dict[ShapeKey, IdleRoom]:
        """Cache of `hpcsched.system.space.idle_room`."""
        return {}

    @cached_property
    def _shares(self) -> dict[tuple[int, ...], int]:
        """Cache: demand of one unit, by unit request."""
        return {}

    def demand(self, units: int, unit_request: tuple[int, ...]) -> int:
        """Return a job's demand: its largest share of the system over all resource types.

        The share is scaled to a whole number, by the same factor for every job, so that products
        with times are exact and equal areas compare equal. With one resource type the demand is the
        requested amount.
        """
        share = self._shares.get(unit_request)
        if share is None:
            scaled = zip(unit_request, self._demand_scale, strict=True)
            share = self._shares[unit_request] = max(amount * scale for amount, scale in scaled)
        return units * share

    @property
    def full_demand(self) -> int:
        """Demand of a job that requests the whole system."""
        return math.lcm(*(total for total in self.totals if total))
