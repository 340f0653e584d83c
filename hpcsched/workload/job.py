"""Jobs as submitted by users and as recorded by traces, and bounds on their times."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from hpcsched.system.system import Request


class Job(NamedTuple):
    """Job at its submission: all information that predictors and dispatchers may use.

    Attributes
    ----------
    submit_time
        Submit time in seconds since the trace's origin.
    requested_time
        The user's limit of its run time, in seconds.
    user, group, application, queue, partition
        Numbers in the trace; None if not given.
    name
        Its name; None if not given.
    queue_name, partition_name
        Names for the numbers; None if not given.
    after
        Numbers of the jobs that must have left the system before it may start. Sources with such
        jobs declare it (see `has_dependencies`).
    think_time
        Seconds that must pass after the last of them has left.
    begin_delay
        Seconds after its submission before which it may not start.
    patience
        Seconds after its submission at which it is withdrawn if it waits for its first start; None
        if it is not. Replays hide it from dispatchers and predictors, as they do run times.
    """

    job_id: int
    submit_time: int
    request: Request
    requested_time: int
    user: int | None = None
    group: int | None = None
    application: int | None = None
    queue: int | None = None
    partition: int | None = None
    name: str | None = None
    queue_name: str | None = None
    partition_name: str | None = None
    # Empty for most jobs: a tuple shared by all of them costs no memory.
    after: tuple[int, ...] = ()
    think_time: int = 0
    begin_delay: int = 0
    patience: int | None = None

    @property
    def units(self) -> int:
        """Number of units; see `Request`."""
        return self.request.units

    @property
    def unit_request(self) -> tuple[int, ...]:
        """Amounts of each unit; see `Request`."""
        return self.request.unit_request

    @property
    def node_groups(self) -> frozenset[str] | None:
        """Names of the groups that it may use, None for any; see `Request`."""
        return self.request.node_groups

    @property
    def allowed_nodes(self) -> frozenset[int] | None:
        """Numbers of the nodes that it may use, None for any; see `Request`."""
        return self.request.allowed_nodes

    @property
    def exclusive(self) -> bool:
        """True if other jobs are kept off its nodes; see `Request`."""
        return self.request.exclusive

    @property
    def one_unit_per_node(self) -> bool:
        """True if each unit needs a node of its own; see `Request`."""
        return self.request.one_unit_per_node

    @property
    def shared_requests(self) -> tuple[tuple[str, int], ...]:
        """Draw from shared resources according to the trace; see `Request`."""
        return self.request.shared_requests


def shown_job(job: Job) -> Job:
    """Return a job as dispatchers and predictors may know it: without its patience."""
    return job if job.patience is None else job._replace(patience=None)


class TracedJob(NamedTuple):
    """Job with its real run time, which only the simulator and oracles know.

    Attributes
    ----------
    run_time
        Run time in the trace, in seconds.
    """

    job: Job
    run_time: int


class WaitClass(StrEnum):
    """Criterion of the classes."""

    QUEUE = "queue"
    PARTITION = "partition"
    UNITS = "units"

    def number(self, job: "Job") -> int:
        """Return the class of a job: its queue or partition, 0 if it has none, or its units."""
        number: int | None = getattr(job, self)
        return number or 0


LONGEST = 2**32
"""Maximum submit, run, requested and think time of a job, in seconds."""


LARGEST_SUM = 2**53
"""Maximum sum of the times of all jobs, in seconds."""


def time_fault(
    submit_time: int, run_time: int, requested_time: int, think_time: int, before: int
) -> str | None:
    """Return which time of a job, in seconds, is too large, or their sum; None if none is.

    A time may be at most 2³² s (136 years). Submit time, run times, requested times and think times
    of all jobs up to a job may sum up to at most 2⁵³ s, which is 2²¹ jobs of the longest kind. So
    every instant of a simulation is a whole number that a double holds exactly, and sums of
    thousands of them are far from 2⁶³. Larger times come from a wrong unit or a damaged field.

    Parameters
    ----------
    before
        Sum over the jobs before it: the longer of run and requested time, and the think time.
    """
    times = {
        "submit": submit_time,
        "run": run_time,
        "requested": requested_time,
        "think": think_time,
    }
    for name, seconds in times.items():
        if seconds > LONGEST:
            return (
                f"expected a {name} time of at most {LONGEST} s (136 years), found {seconds};"
                " is it in seconds?"
            )
    # In a queue without a pause, a job ends at most at its submission plus the sum of all work.
    lasting = submit_time + before + max(run_time, requested_time) + think_time
    if lasting > LARGEST_SUM:
        return (
            f"expected the times of all jobs up to this one to sum up to at most {LARGEST_SUM}"
            f" s, found {lasting}"
        )
    return None


Kind = Literal[
    "whole", "real", "text", "flag", "names", "numbers", "bits", "amounts", "real_amounts",
    "demand", "state", "solver",
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

BEGIN_DELAY = _of(
    "begin_delay", "whole", "time after its submission before which it may not start", "s"
)
PATIENCE = _of(
    "patience",
    "whole",
    "time after its submission at which it is withdrawn if it still waits; none if it is not",
    "s",
    nullable=True,
)

WAITING_TIMES = (BEGIN_DELAY.name, PATIENCE.name)

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
