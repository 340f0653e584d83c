"""Jobs as users submit them, and as traces record them."""

from typing import NamedTuple

from hpcsched.system.request import Request


class Job(NamedTuple):
    """A job as its user submitted it: all that a predictor or dispatcher may know in advance.

    `request` is what it asks for; what is in it can be read of the job as well. Times are seconds.
    What a trace does not tell is None; `queue_name` and `partition_name` are what the trace calls
    the numbers.

    `after` has the numbers of jobs that must have left the system before it may start, and
    `think_time` the seconds that must have passed since the last of them did. What gives such jobs
    says so (see `has_dependencies`).
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
    after: tuple[int, ...] = ()
    think_time: int = 0

    @property
    def units(self) -> int:
        """How many units it has; see `Request`."""
        return self.request.units

    @property
    def unit_request(self) -> tuple[int, ...]:
        """What each unit asks for; see `Request`."""
        return self.request.unit_request

    @property
    def node_groups(self) -> frozenset[str] | None:
        """The names of the groups that it may use, None for any; see `Request`."""
        return self.request.node_groups

    @property
    def allowed_nodes(self) -> frozenset[int] | None:
        """The numbers of the nodes that it may use, None for any; see `Request`."""
        return self.request.allowed_nodes

    @property
    def exclusive(self) -> bool:
        """Whether it keeps other jobs off its nodes; see `Request`."""
        return self.request.exclusive

    @property
    def scatter(self) -> bool:
        """Whether each unit needs a node of its own; see `Request`."""
        return self.request.scatter

    @property
    def pool_requests(self) -> tuple[tuple[str, int], ...]:
        """What the trace says that it draws from pools; see `Request`."""
        return self.request.pool_requests


class TracedJob(NamedTuple):
    """A job with the run time that the trace records, which only the simulator knows."""

    job: Job
    run_time: int
