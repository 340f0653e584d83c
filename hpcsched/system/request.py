"""Requests of jobs: units, eligible nodes, and draws from shared resources."""

from typing import NamedTuple


class Request(NamedTuple):
    """Demand for identical units and for shared resources.

    A unit runs on one node; several units may share a node. Amounts are in the order of the
    system's resource types.

    Attributes
    ----------
    units
        Number of units.
    unit_request
        Amounts of each unit.
    node_groups, allowed_nodes
        Names of groups and numbers of nodes that may be used; None: any.
    exclusive
        True: no other job on these nodes.
    scatter
        True: each unit on a node of its own, beside units of other jobs if they fit (PBS:
        `place=scatter`).
    pool_requests
        Draws from pools that the trace states, by name.
    """

    units: int
    unit_request: tuple[int, ...]
    node_groups: frozenset[str] | None = None
    allowed_nodes: frozenset[int] | None = None
    exclusive: bool = False
    scatter: bool = False
    pool_requests: tuple[tuple[str, int], ...] = ()


ShapeKey = tuple[object, ...]
"""Equal for requests of one shape: as many of their units fit on a node, whatever is free."""

_ANYWHERE = Request(1, ())[2:-1]


def shape_key(request: Request) -> ShapeKey:
    """Return the part of a request that decides how many of its units fit on a node."""
    return request[1:-1]


def is_constrained(request: Request) -> bool:
    """Return True if a request restricts nodes or their sharing, so that slots do not suffice."""
    return request[2:-1] != _ANYWHERE
