"""State of a real cluster, the protocol of workload managers, and the manager `state-file`.

Instants are seconds since 1970 (UTC) here, as clusters have them. Amounts are per resource type, as
a scenario declares them: cores as a number, memory in bytes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field, TypeAdapter, ValidationError

from hpcsched.errors import Finding, HpcschedError, InputError, Place, PluginError
from hpcsched.parameters import InputPath, Params
from hpcsched.paths import read_file
from hpcsched.plugin_faults import named
from hpcsched.registration import builtin

Amount = Annotated[int, Field(ge=0)]
"""Number of units of a resource, or of seconds."""

Phase = Literal["waiting", "blocked", "running", "ended"]
"""State of a job: eligible, not yet eligible, running, or finished."""

Ending = Literal["completed", "killed", "cancelled"]
"""End of a job: by itself, at its time limit, or removed before its start."""


class ClusterNode(NamedTuple):
    """Node of a cluster.

    Attributes
    ----------
    resources
        Capacity by resource type; empty if the manager's answer is not understood.
    usable
        Whether jobs may be placed on it now.
    back
        Instant at which an unusable node is expected back; None: unknown.
    """

    name: str
    resources: Mapping[str, int]
    usable: bool = True
    why: str = ""
    back: int | None = None


class ClusterOutage(NamedTuple):
    """Interval in which only jobs of others may use some nodes: a reservation."""

    name: str
    nodes: tuple[str, ...]
    start: int
    end: int


class ClusterLimit(NamedTuple):
    """Limit of a job: the amounts that the running jobs of a group may hold together.

    Attributes
    ----------
    most
        Maximum of that amount over all running jobs of the group.
    used
        Part of `most` that is taken by jobs without counting in their `usage`.
    """

    group: str
    counted: str
    most: int
    name: str
    used: Amount = 0


class ClusterJob(NamedTuple):
    """Job of a cluster.

    Attributes
    ----------
    phase
        Whether it waits, runs or has ended.
    submit_time, requested_time
        Instant of its submission, in seconds since 1970, and requested seconds.
    amounts
        Request of a unit, by resource type.
    one_unit_per_node
        Whether each unit needs a node of its own.
    exclusive
        Whether other jobs are kept off its nodes.
    allowed
        Names of the nodes that it may use; None: any.
    start_time, end_time
        Instants in seconds since 1970; None before.
    ending
        How it has ended; None before.
    placed
        Allocated amounts by node and resource type, while it runs.
    user, group, application, partition_number
        Numbers; None if not known.
    name
        Its name; None if not known.
    partitions
        Names of all partitions that it may run in; empty: its partition alone.
    unknown
        Part of the request that these terms cannot express, in words: such a job is left to the
        manager's own scheduler.
    groups
        Groups of jobs in whose limits it counts while it runs.
    limits
        Limits that it must keep to in order to start.
    usage
        Amounts by which it counts, at most; the key `node` is its number of nodes.
    """

    key: str
    job_id: int
    phase: Phase
    partition: str
    submit_time: Amount
    requested_time: Amount
    units: Annotated[int, Field(ge=1)]
    amounts: Mapping[str, Amount]
    one_unit_per_node: bool = False
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
    partitions: frozenset[str] = frozenset()
    groups: tuple[str, ...] = ()
    limits: tuple[ClusterLimit, ...] = ()
    usage: Mapping[str, Amount] = {}
    shared: Mapping[str, Amount] = {}


class ClusterState(NamedTuple):
    """Snapshot of a cluster: its nodes and jobs, recently finished jobs included.

    Attributes
    ----------
    nodes
        All nodes, each name once.
    jobs
        All jobs, each key once.
    warnings
        Sentences about parts of the manager's answer that are left out or renamed.
    outages
        Reservations for jobs of others, current and future.
    shared
        Present capacity of each shared resource for all jobs together, by name.
    node_limits
        Maximum number of cores of a node that all jobs of a partition may use, by partition.
    """

    nodes: tuple[ClusterNode, ...]
    jobs: tuple[ClusterJob, ...]
    warnings: tuple[str, ...] = ()
    outages: tuple[ClusterOutage, ...] = ()
    shared: Mapping[str, Amount] = {}
    node_limits: Mapping[str, Amount] = {}


class UnavailableError(HpcschedError):
    """Temporary failure: the workload manager does not answer."""


class RefusedError(HpcschedError):
    """Change refused by the workload manager: the job is gone, has changed, or runs."""


def read_cluster(manager: "WorkloadManager") -> ClusterState:
    """Return the current state of the cluster, checked."""
    try:
        return checked_state(manager.read())
    except ValueError as error:
        raise PluginError(f"{named('workload_manager', manager)}: {error}") from error


def checked_state(state: object) -> ClusterState:
    """Return a cluster's state, after a check of types and of required fields of jobs.

    Raises
    ------
    ValueError
        If it is no state of a cluster.
    """
    try:
        checked = _validator().validate_python(state)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from error
    for what, names in (
        ("node", [node.name for node in checked.nodes]),
        ("job", [job.key for job in checked.jobs]),
    ):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"expected each {what} once, found {twice[0]!r} twice")
    for job in checked.jobs:
        if job.phase == "running" and (job.start_time is None or not job.placed):
            raise ValueError(f"job {job.key}: expected start_time and placed of a running job")
        if job.phase == "ended" and job.end_time is None:
            raise ValueError(f"job {job.key}: expected the end_time of an ended job")
        for limit in job.limits:
            if limit.group not in job.groups:  # it would count no job, not even this one
                raise ValueError(f"job {job.key}: expected a limit of its groups, found {limit!r}")
    return checked


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}, found {first['input']!r}"


class WorkloadManager(Protocol):
    """Software that runs a real cluster; a change concerns one job and is made at once."""

    def read(self) -> ClusterState:
        """Return the current state of the cluster.

        Returns
        -------
        ClusterState
            Nodes and jobs; instants in seconds since 1970, memory in bytes.

        Raises
        ------
        UnavailableError
            If the cluster cannot be read now; it is tried again.
        """

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Start a held job on the given nodes, or leave it to the manager without nodes.

        Parameters
        ----------
        nodes
            Names of the nodes, `[K]`; empty: the manager places the job itself.

        Raises
        ------
        RefusedError
            If the manager refuses the change.
        UnavailableError
            If the manager does not answer.
        """

    def hold(self, job: ClusterJob) -> None:
        """Hold again a job that was to start and has not.

        Raises
        ------
        RefusedError
            If the manager refuses the change.
        UnavailableError
            If the manager does not answer.
        """


@cache
def _validator() -> TypeAdapter[ClusterState]:
    """Return the validator of states, made once, as nested tuples are expensive."""
    return TypeAdapter(ClusterState)


class StateFileParams(Params):
    """Parameters of `state-file`: the path of the file."""

    path: InputPath
    """A JSON file with `nodes` and `jobs`, lists of objects whose keys are the fields of
    hpcsched.system.cluster; ${VAR} is filled in."""


@builtin("workload_manager", "state-file", StateFileParams)
class StateFile:
    """Workload manager: the state of a cluster in a JSON file; for advice only.

    The file is read again on each call.
    """

    def __init__(self, params: StateFileParams) -> None:
        self._path = Path(params.path)

    def read(self) -> ClusterState:
        """Return the state in the file."""
        try:
            return _validator().validate_json(read_file(self._path))
        except OSError as error:
            message = f"it cannot be read: {error.strerror}"
            raise InputError(Finding("missing-file", message, Place(str(self._path)))) from error
        except ValidationError as error:
            message = f"it is damaged: {_first_problem(error)}"
            raise InputError(Finding("damaged-file", message, Place(str(self._path)))) from error

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")

    def hold(self, job: ClusterJob) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")
