"""Jobs as users submit them, and as traces record them."""

from typing import NamedTuple

from hpcsched.system.request import is_constrained


class Job(NamedTuple):
    """A job as its user submitted it: all that a predictor or dispatcher may know in advance.

    The job asks for `units` identical units of `unit_request` each (amounts in the order of the
    system's resource types); a unit runs on one node, and several units may share a node.
    `node_groups` names the groups and `allowed_nodes` the numbers of the nodes that it may run on
    (None: any), and `exclusive` keeps other jobs off its nodes. `scatter` has each unit on a node
    of its own, beside units of other jobs if they fit (PBS: `place=scatter`). Times are seconds.
    What a trace does not tell is None; `queue_name` and `partition_name` are what the trace calls
    the numbers.

    `after` has the numbers of jobs that must have left the system before it may start, and
    `think_time` the seconds that must have passed since the last of them did. What gives such jobs
    says so (see `has_dependencies`). `pool_requests` are what the trace says that it draws from
    pools while it runs, by their names.
    """

    job_id: int
    submit_time: int
    units: int
    unit_request: tuple[int, ...]
    requested_time: int
    user: int | None = None
    group: int | None = None
    application: int | None = None
    queue: int | None = None
    partition: int | None = None
    node_groups: frozenset[str] | None = None
    exclusive: bool = False
    allowed_nodes: frozenset[int] | None = None
    name: str | None = None
    queue_name: str | None = None
    partition_name: str | None = None
    after: tuple[int, ...] = ()
    think_time: int = 0
    pool_requests: tuple[tuple[str, int], ...] = ()
    scatter: bool = False

    @property
    def constrained(self) -> bool:
        """Whether it says more than how many units it needs; see `is_constrained`."""
        return is_constrained(self)


class TracedJob(NamedTuple):
    """A job with the run time that the trace records, which only the simulator knows."""

    job: Job
    run_time: int
