"""A real cluster, as a workload manager tells of it, and the protocol of such a manager.

Instants are seconds since 1970 (UTC) here, as clusters have them. Amounts are per resource type, as
a scenario declares them: cores as a number, memory in bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from hpcsched.errors import HpcschedError

Phase = Literal["waiting", "blocked", "running", "ended"]
"""Where a job is: it could start, it may not yet, it holds nodes, or it has left them."""

Ending = Literal["completed", "killed", "cancelled"]
"""How a job left: by itself, at its time limit, or taken away before it started."""


class ClusterNode(NamedTuple):
    """A node: its name, what it offers, and whether jobs may be placed on it now.

    `why` says in the manager's words what keeps jobs off, if something does.
    """

    name: str
    resources: Mapping[str, int]
    usable: bool = True
    why: str = ""


class ClusterJob(NamedTuple):
    """A job of the cluster.

    `key` is what the manager calls it, `job_id` a number that stands for it. It asks for `units`,
    each of `amounts` on one node, each on a node of its own if `scatter`; `allowed` names the nodes
    that it may use (None: any). `held` says that it waits for hpcsched to place it, `why` what the
    manager says of its waiting, and `wanted` names the nodes that it is bound to. `placed` is what
    it holds, by node, while it runs. `unknown` is what it asks for that these terms cannot say, in
    words: it is left to the manager's own scheduler. The rest is as in `hpcsched.workload.job.Job`.
    """

    key: str
    job_id: int
    phase: Phase
    partition: str
    submit_time: int
    requested_time: int
    units: int
    amounts: Mapping[str, int]
    scatter: bool = False
    exclusive: bool = False
    allowed: frozenset[str] | None = None
    held: bool = False
    why: str = ""
    wanted: tuple[str, ...] = ()
    start_time: int | None = None
    end_time: int | None = None
    ending: Ending | None = None
    placed: Mapping[str, Mapping[str, int]] = {}
    user: int | None = None
    group: int | None = None
    application: int | None = None
    partition_number: int | None = None
    name: str | None = None
    unknown: str = ""


class ClusterState(NamedTuple):
    """A cluster at an instant: its nodes, and its jobs, those included that ended a while ago.

    `warnings` tell of what the manager says and is left out, or has another name here.
    """

    nodes: tuple[ClusterNode, ...]
    jobs: tuple[ClusterJob, ...]
    warnings: tuple[str, ...] = ()


class UnavailableError(HpcschedError):
    """The workload manager does not answer; it may later."""


class RefusedError(HpcschedError):
    """The workload manager did not make a change: the job is gone, has changed, or runs."""


class WorkloadManager(Protocol):
    """What runs a real cluster; the changes concern one job each and are made at once."""

    def read(self) -> ClusterState:
        """Return the cluster as it is; raises UnavailableError where it cannot be read now."""

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Have a held job start on these nodes, or leave it to the manager if none is named.

        Raises RefusedError where it is not done, UnavailableError where nobody answers.
        """

    def hold(self, job: ClusterJob) -> None:
        """Take back a job that was to start and has not; raises as `start` does."""
