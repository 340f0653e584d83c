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
