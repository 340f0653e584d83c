"""A real cluster as its workload manager describes it, and the protocol of such a manager.

Instants are seconds since 1970 (UTC). Amounts are per resource type, as a scenario declares them:
cores as a number, memory in bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from hpcsched.errors import HpcschedError

Phase = Literal["waiting", "blocked", "running", "ended"]
"""Phase of a job: able to start, not yet allowed to, holding nodes, or ended."""

Ending = Literal["completed", "killed", "cancelled"]
"""End of a job: by itself, at its time limit, or removed before it started."""


class ClusterNode(NamedTuple):
    """A node of a cluster.

    Attributes
    ----------
    resources
        Amounts that it offers.
    usable
        True if jobs may be placed on it now.
    why
        The manager's reason if not; empty otherwise.
    """

    name: str
    resources: Mapping[str, int]
    usable: bool = True
    why: str = ""


class ClusterJob(NamedTuple):
    """A job of a cluster; further fields are as in `hpcsched.workload.job.Job`.

    Attributes
    ----------
    key, job_id
        Name by the manager, and the number that stands for it.
    units, amounts
        Number of units, and amounts of each on one node.
    scatter
        True: each unit needs a node of its own.
    allowed
        Names of eligible nodes; None: any.
    held
        True if the job waits for hpcsched to place it.
    why
        The manager's reason of its waiting.
    wanted
        Names of the nodes that it is bound to.
    placed
        Resources that it holds while it runs, by node.
    unknown
        Parts of its request that these terms cannot express; such a job is left to the manager's
        own scheduler.
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
    """A cluster at an instant.

    Attributes
    ----------
    nodes
        All nodes.
    jobs
        Jobs in the system, and those that ended a while ago.
    warnings
        Parts of the manager's answer that are left out or renamed.
    """

    nodes: tuple[ClusterNode, ...]
    jobs: tuple[ClusterJob, ...]
    warnings: tuple[str, ...] = ()


class UnavailableError(HpcschedError):
    """The workload manager does not answer; it may later."""


class RefusedError(HpcschedError):
    """The workload manager did not make a change: the job is gone, has changed, or runs."""


class WorkloadManager(Protocol):
    """Protocol of a workload manager; changes concern one job each and take effect at once."""

    def read(self) -> ClusterState:
        """Return the present state of the cluster.

        Raises
        ------
        UnavailableError
            If it cannot be read now.
        """

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Start a held job on these nodes, or leave it to the manager if none is named.

        Raises
        ------
        RefusedError
            If the manager refuses.
        UnavailableError
            If it does not answer.
        """

    def hold(self, job: ClusterJob) -> None:
        """Take back a job that was to start and has not.

        Raises
        ------
        RefusedError
            If the manager refuses.
        UnavailableError
            If it does not answer.
        """
