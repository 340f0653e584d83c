"""State of a real cluster, the protocol of workload managers, and the manager `state-file`.

Instants are seconds since 1970 (UTC) here, as clusters have them. Amounts are per resource type, as
a scenario declares them: cores as a number, memory in bytes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, get_args

from pydantic import Field, TypeAdapter, ValidationError

from hpcsched.errors import Finding, HpcschedError, InputError, Place, PluginError
from hpcsched.parameters import InputPath, Params
from hpcsched.paths import read_file
from hpcsched.plugin_faults import named
from hpcsched.registration import builtin

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
    """Limit of a job: what the running jobs of a group may hold together.

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
    used: int = 0


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
    submit_time: int
    requested_time: int
    units: int
    amounts: Mapping[str, int]
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
    usage: Mapping[str, int] = {}
    shared: Mapping[str, int] = {}


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
    shared: Mapping[str, int] = {}
    node_limits: Mapping[str, int] = {}


class UnavailableError(HpcschedError):
    """Temporary failure: the workload manager does not answer."""


class RefusedError(HpcschedError):
    """Change refused by the workload manager: the job is gone, has changed, or runs."""


def read_cluster(manager: "WorkloadManager") -> ClusterState:
    """Return the current state of the cluster, checked."""
    state = manager.read()
    fault = state_fault(state)
    if fault is not None:
        raise PluginError(f"{named('workload_manager', manager)}: {fault}")
    return state


def state_fault(state: object) -> str | None:
    """Return why a value is no state of a cluster; None if it is one."""
    if not isinstance(state, ClusterState):
        return f"expected a ClusterState, found {state!r}"
    for field, kind in (("nodes", ClusterNode), ("jobs", ClusterJob), ("outages", ClusterOutage)):
        for value in getattr(state, field):
            if not isinstance(value, kind):
                return f"expected a {kind.__name__} in {field}, found {value!r}"
    for what, names in (
        ("node", [node.name for node in state.nodes]),
        ("job", [job.key for job in state.jobs]),
    ):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            return f"expected each {what} once, found {twice[0]!r} twice"
    for what, amounts in (("shared", state.shared), ("node_limits", state.node_limits)):
        fault = _amount_fault(what, amounts)
        if fault is not None:
            return fault
    return next(filter(None, map(_job_fault, state.jobs)), None) or _limits_fault(state.jobs)


def _job_fault(job: ClusterJob) -> str | None:
    whose = f"job {job.key}"
    if job.phase not in get_args(Phase):
        return f"{whose}: expected one of {', '.join(get_args(Phase))}, found {job.phase!r}"
    if job.phase == "running" and (job.start_time is None or not job.placed):
        return f"{whose}: expected start_time and placed of a running job, found none"
    if job.phase == "ended" and job.end_time is None:
        return f"{whose}: expected the end_time of an ended job, found none"
    for name, value, least in (
        ("submit_time", job.submit_time, 0),
        ("requested_time", job.requested_time, 0),
        ("units", job.units, 1),
    ):
        if type(value) is not int or value < least:
            return f"{whose}: expected a whole {name} of at least {least}, found {value!r}"
    for name, kind in (("amounts", Mapping), ("placed", Mapping), ("wanted", tuple)):
        found = getattr(job, name)
        if not isinstance(found, kind):
            return f"{whose}: expected a {kind.__name__.lower()} as {name}, found {found!r}"
    faults = (
        _amount_fault(f"{whose}: {what}", amounts)
        for what, amounts in (("usage", job.usage), ("shared", job.shared))
    )
    return next(filter(None, faults), None)


def _limits_fault(jobs: Iterable[ClusterJob]) -> str | None:
    """Return why the groups or limits of a job are none."""
    # Thousands of jobs share the few tuples of their users.
    of_tuples = {(id(job.groups), id(job.limits)): job for job in jobs}
    for job in of_tuples.values():
        if isinstance(job.groups, str) or not all(isinstance(name, str) for name in job.groups):
            return f"job {job.key}: expected names of groups, found {job.groups!r}"
        for limit in job.limits:
            fault = _limit_fault(limit, job)
            if fault is not None:
                return fault
    return None


def _limit_fault(limit: object, job: ClusterJob) -> str | None:
    whose = f"job {job.key}"
    if not isinstance(limit, ClusterLimit):
        return f"{whose}: expected a ClusterLimit in limits, found {limit!r}"
    if limit.group not in job.groups:  # it would count no job, not even this one
        return f"{whose}: expected a limit of one of its groups, found {limit!r}"
    for name, value, kind in (
        ("counted", limit.counted, str), ("name", limit.name, str), ("most", limit.most, int),
    ):  # fmt: skip
        if type(value) is not kind:
            expected = "text" if kind is str else "whole number"
            return f"{whose}: expected the {name} of a limit as a {expected}, found {value!r}"
    if type(limit.used) is not int or limit.used < 0:
        return f"{whose}: expected a whole used of a limit of at least 0, found {limit.used!r}"
    return None


def _amount_fault(what: str, amounts: object) -> str | None:
    """Return why a value is no mapping of names to amounts; None if it is one."""
    if not isinstance(amounts, Mapping):
        return f"{what}: expected a mapping of names to amounts, found {amounts!r}"
    for name, amount in amounts.items():
        if not isinstance(name, str) or type(amount) is not int or amount < 0:
            told = f"{name!r}: {amount!r}"
            return f"{what}: expected whole amounts of at least 0 by name, found {told}"
    return None


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
    """Return the validator of states, whose nested tuples are expensive to make."""
    return TypeAdapter(ClusterState)


class StateFileParams(Params):
    """Parameters of `state-file`: the path of the file."""

    path: InputPath = Field(
        description="A JSON file with `nodes` and `jobs`, lists of objects whose keys are the"
        " fields of hpcsched.system.cluster; ${VAR} is filled in."
    )


@builtin(
    "workload_manager",
    "state-file",
    StateFileParams,
    summary="the state of a cluster in a JSON file; for advice only",
)
class StateFile:
    """Read-only cluster in a file, which is read again on each call."""

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
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            message = f"it is damaged: {where}: {first['msg']}"
            raise InputError(Finding("damaged-file", message, Place(str(self._path)))) from error

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")

    def hold(self, job: ClusterJob) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")
