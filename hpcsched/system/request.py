"""Request of a job: its units on nodes, and its draw from shared resources."""

from typing import NamedTuple


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
