"""Columns of job records in files, for writing, reading and checking them."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from hpcsched.system.system import Request

Kind = Literal[
    "whole", "real", "text", "flag", "names", "numbers", "amounts", "real_amounts", "demand",
    "state", "solver",
]  # fmt: skip
"""Type of a column: `names` and `numbers` are sets in a record and ascending lists in a file;
`amounts` have one value for each resource type of the system.
"""


class Column(NamedTuple):
    """Column of job records in a file.

    Attributes
    ----------
    unit
        Unit of its values; empty if none.
    nullable
        Whether values may be None.
    """

    name: str
    kind: Kind
    unit: str
    get: Callable[[Any], Any]
    meaning: str
    nullable: bool = False

    def told(self, value: Any) -> Any:
        """Return a value as files store it: sets as sorted lists."""
        return sorted(value) if self.kind in _SEVERAL and value is not None else value

    def taken(self, value: Any) -> Any:
        """Return a stored value as records have it: lists as sets."""
        return frozenset(value) if self.kind in _SEVERAL and value is not None else value


_SEVERAL = ("names", "numbers")


def _of(name: str, kind: Kind, meaning: str, unit: str = "", *, nullable: bool = False) -> Column:
    return Column(name, kind, unit, attrgetter(name), meaning, nullable)


BOUNDS = (
    _of("node_groups", "names", "names of the node groups on which it may run; none: any",
        nullable=True),
    _of("allowed_nodes", "numbers", "numbers of the nodes on which it may run; none: any",
        nullable=True),
    _of("exclusive", "flag", "true if no other job may share its nodes"),
    _of("one_unit_per_node", "flag",
        "true if each unit needs a node of its own, which other jobs may share"),
)  # fmt: skip
"""Restrictions of a request on the placement of its units, in the order of its fields."""

FLAGS = tuple(column.name for column in BOUNDS if column.kind == "flag")
"""Restrictions that are true or false."""

WHOSE = (
    _of("user", "whole", "number of the user in the trace; none if not given", nullable=True),
    _of("group", "whole", "number of the group; none if not given", nullable=True),
    _of("application", "whole", "number of the application; none if not given", nullable=True),
    _of("queue", "whole", "number of the queue; none if not given", nullable=True),
    _of("partition", "whole", "number of the partition; none if not given", nullable=True),
)
"""Numbers of a job's submitter and destination."""

NUMBERED = tuple(column.name for column in WHOSE)
"""Names of these columns."""

JOB_ID = _of("job_id", "whole", "number of the job in the trace")
SUBMIT_TIME = _of("submit_time", "whole", "submit time", "s")
REQUESTED_TIME = _of("requested_time", "whole", "time limit of the user", "s")
UNITS = _of("units", "whole", "number of units, each on one node", "units")
UNIT_REQUEST = _of(
    "unit_request",
    "amounts",
    "request of each unit: a struct with a field for each resource type; bytes, if the system is"
    " declared in bytes",
    "amount",
)
NAME = _of("name", "text", "name of the job; none if the trace has no names", nullable=True)

TEXTS = (NAME.name, "queue_name", "partition_name")
"""Names of a job, of its queue and of its partition, as fields of `Job` after its numbers."""


def bounded_request(
    units: int,
    unit_request: tuple[int, ...],
    told: Mapping[str, Any],
    shared_requests: tuple[tuple[str, int], ...] = (),
) -> Request:
    """Return a request from the columns of a file.

    Parameters
    ----------
    unit_request
        Amounts of a unit, in the system's units.
    told
        Stored values of the columns `BOUNDS`, by name.
    shared_requests
        Draw from shared resources, by name.
    """
    bounds = {column.name: column.taken(told[column.name]) for column in BOUNDS}
    return Request(units, unit_request, **bounds, shared_requests=shared_requests)
