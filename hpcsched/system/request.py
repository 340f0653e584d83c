"""What a system needs to know of a job in order to find room for it."""

from typing import Protocol


class Request(Protocol):
    """A job's demand for room; `hpcsched.workload.job.Job` is one."""

    @property
    def units(self) -> int:
        """How many units have to be placed, each on one node."""

    @property
    def unit_request(self) -> tuple[int, ...]:
        """What each unit asks for, in the order of the system's resource types."""

    @property
    def node_groups(self) -> frozenset[str] | None:
        """The names of the groups that may be used; None: any."""

    @property
    def allowed_nodes(self) -> frozenset[int] | None:
        """The numbers of the nodes that may be used; None: any."""

    @property
    def exclusive(self) -> bool:
        """Whether no other job may use a node while this one does."""

    @property
    def scatter(self) -> bool:
        """Whether each unit needs a node of its own, which units of other jobs may use too."""


ShapeKey = tuple[tuple[int, ...], frozenset[str] | None, frozenset[int] | None, bool, bool]
"""Equal for requests of one shape: as many of their units fit on a node, whatever is free."""


def shape_key(request: Request) -> ShapeKey:
    """Return what a request has in common with all others of its shape."""
    return (
        request.unit_request,
        request.node_groups,
        request.allowed_nodes,
        request.exclusive,
        request.scatter,
    )


def is_constrained(request: Request) -> bool:
    """Say whether a request is about more than units: about which nodes, or how it shares them.

    Such units are not counted as slots, of which any is as good as any other.
    """
    return (
        request.exclusive
        or request.scatter
        or request.node_groups is not None
        or request.allowed_nodes is not None
    )
