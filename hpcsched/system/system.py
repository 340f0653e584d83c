"""Systems: groups of identical nodes with amounts of several resource types."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hpcsched.system.shared_resources import Pool

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """`count` identical nodes, each offering declared amounts of resource types."""

    name: str
    count: int
    resources: Mapping[str, int]


@dataclass(frozen=True)
class System:
    """Nodes of all groups, numbered from 0 in the order of the groups.

    Amounts inside a system are counted in `units`. Capacities are rounded down to whole units and
    requests up, so that nothing fits that would not have fitted before. A request is a tuple of
    amounts in the order of `resource_types`.

    Attributes
    ----------
    groups
        Node groups.
    units
        Declared amount of a resource type that counts as one; 1 by default.
    pools
        Shared resources.
    resource_types
        Names of the resource types, in the order of requests.
    totals
        Capacity of the system, by resource type.
    """

    groups: tuple[NodeGroup, ...]
    units: Mapping[str, int] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
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
        rows = [[self._offered(g, name) for name in self.resource_types] for g in self.groups]
        counts = [group.count for group in self.groups]
        capacity = np.repeat(np.array(rows, dtype=np.int64), counts, axis=0)
        capacity.flags.writeable = False
        return capacity

    @cached_property
    def group_of(self) -> IntArray:
        """The index of each node's group, `[N]`, read-only."""
        group_of = np.repeat(np.arange(len(self.groups)), [group.count for group in self.groups])
        group_of.flags.writeable = False
        return group_of

    def request(self, amounts: Mapping[str, int]) -> tuple[int, ...]:
        """Return declared amounts as a request.

        Raises
        ------
        KeyError
            If a resource type is unknown.
        """
        unknown = [name for name in amounts if name not in self.resource_types]
        if unknown:
            raise KeyError(unknown[0])
        return tuple(-(-amounts.get(name, 0) // self._unit(name)) for name in self.resource_types)

    def declared(self, request: Sequence[int]) -> dict[str, int]:
        """Return the declared amounts of a request."""
        named = zip(self.resource_types, request, strict=True)
        return {name: amount * self._unit(name) for name, amount in named}

    def loses(self, amounts: Mapping[str, int], allowed: frozenset[int] | None = None) -> bool:
        """Return True if counting in units keeps a request off every node that could hold it.

        Parameters
        ----------
        amounts
            Declared amounts of known resource types.
        allowed
            Numbers of the nodes in question; None for all.
        """
        holds = [
            all(amount <= group.resources.get(name, 0) for name, amount in amounts.items())
            for group in self.groups
        ]
        nodes = slice(None) if allowed is None else sorted(allowed)
        could = np.array(holds)[self.group_of][nodes]
        can = np.all(self.capacity[nodes] >= np.array(self.request(amounts)), axis=1)
        return bool(could.any()) and not bool(can.any())

    def _unit(self, name: str) -> int:
        return self.units.get(name, 1)

    def _offered(self, group: NodeGroup, name: str) -> int:
        return group.resources.get(name, 0) // self._unit(name)

    def node_name(self, node: int) -> str:
        """Return the name of a node: its group, and its number within the group."""
        group = int(self.group_of[node])
        return f"{self.groups[group].name}-{node - sum(g.count for g in self.groups[:group])}"

    @cached_property
    def _demand_scale(self) -> tuple[int, ...]:
        common = math.lcm(*(total for total in self.totals if total))
        return tuple(common // total if total else 0 for total in self.totals)

    @cached_property
    def nodes_by_shape(self) -> dict[tuple[tuple[int, ...], frozenset[str] | None], int]:
        """Cache of the number of idle nodes with room for a unit, by request and node groups."""
        return {}

    @cached_property
    def _shares(self) -> dict[tuple[int, ...], int]:
        """Cache of demands of one unit."""
        return {}

    def demand(self, units: int, unit_request: tuple[int, ...]) -> int:
        """Return the demand of a job: its largest share of the system over all resource types.

        The share is scaled to a whole number, by the same factor for every job, so that products
        with times are exact and equal areas compare equal. With one resource type the demand is the
        requested amount.

        Parameters
        ----------
        units
            Number of units.
        unit_request
            Amounts of a unit.
        """
        share = self._shares.get(unit_request)
        if share is None:
            scaled = zip(unit_request, self._demand_scale, strict=True)
            share = self._shares[unit_request] = max(amount * scale for amount, scale in scaled)
        return units * share

    @property
    def full_demand(self) -> int:
        """Demand of a job that asks for the whole system."""
        return math.lcm(*(total for total in self.totals if total))
