"""What a job asks of a system: room for its units, and what it draws from pools."""

from typing import NamedTuple


class Request(NamedTuple):
    """A demand for `units` identical units of `unit_request` each, and for what pools offer.

    Amounts are in the order of the system's resource types. A unit runs on one node, and several
    units may share a node. `node_groups` names the groups and `allowed_nodes` the numbers of the
    nodes that may be used (None: any), and `exclusive` keeps other jobs off them. `scatter` has
    each unit on a node of its own, beside units of other jobs if they fit (PBS: `place=scatter`).
    `pool_requests` are what the trace says that the job draws from pools while it runs, by their
    names.

    What stands between `unit_request` and `pool_requests` says where and how a unit may be placed;
    what is said of nothing else goes there as well.
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
    """Return what a request has in common with all others of its shape."""
    return request[1:-1]


def is_constrained(request: Request) -> bool:
    """Say whether a request is about more than units: about which nodes, or how it shares them.

    Such units are not counted as slots, of which any is as good as any other.
    """
    return request[2:-1] != _ANYWHERE
