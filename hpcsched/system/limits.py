"""Limits of QOS, of accounts and of users, as workload managers have them."""

from collections.abc import Mapping
from typing import NamedTuple

Amounts = Mapping[str, int]
"""Amounts by name: `jobs`, nodes, and resources; each user of limits has names of its own."""

JOBS = "jobs"
NODES = "nodes"
"""Names of the numbers of jobs and of nodes in the limits of a scenario."""
RELATIVE = "Flags=Relative"
"""Name of the limits of a QOS that are shares, among those that are left to Slurm."""
_NOTHING: Amounts = {}


class LimitSet(NamedTuple):
    """Limits of a QOS or an association.

    Attributes
    ----------
    group, user, account
        Maximum of all its running jobs together, of those of each user, of each account.
    own
        Maximum of the running jobs of an association itself.
    job, node, least
        Maximum of a job, maximum of a job per node, minimum of a job.
    wall
        Largest time limit of a job in seconds; None for any.
    left
        Names of the limits that are left to the workload manager.
    job_minutes
        Maximum of a job times its time limit in minutes.
    """

    group: Amounts = _NOTHING
    user: Amounts = _NOTHING
    account: Amounts = _NOTHING
    own: Amounts = _NOTHING
    job: Amounts = _NOTHING
    node: Amounts = _NOTHING
    least: Amounts = _NOTHING
    wall: int | None = None
    left: tuple[str, ...] = ()
    job_minutes: Amounts = _NOTHING


class Metered(NamedTuple):
    """Maximum and usage of something, in minutes; `most` is None without a limit."""

    most: int | None
    used: int


_UNMETERED: Mapping[str, Metered] = {}


class TimeLimits(NamedTuple):
    """Limits over time of a QOS or an association, by resource.

    Attributes
    ----------
    total
        Resource minutes of all its jobs so far: `GrpTRESMins`.
    running
        Resource minutes that its running jobs may still take: `GrpTRESRunMins`.
    wall
        Minutes of all its jobs so far: `GrpWall`.
    """

    total: Mapping[str, Metered] = _UNMETERED
    running: Mapping[str, Metered] = _UNMETERED
    wall: Metered = Metered(None, 0)

    @property
    def limited(self) -> bool:
        """True if there is a limit."""
        return bool(self.total or self.running) or self.wall.most is not None


NO_TIME_LIMITS = TimeLimits()

AssociationKey = tuple[str, str, str, str]
"""Cluster, account, user and partition of an association; user and partition may be empty."""


class TimeUsage(NamedTuple):
    """Limits over time of all QOS and associations, as they are at an instant.

    Attributes
    ----------
    at
        Seconds since 1970: jobs that start later are not part of the usage.
    """

    at: float
    qos: Mapping[str, TimeLimits]
    associations: Mapping[AssociationKey, TimeLimits]

    @property
    def limited(self) -> bool:
        """True if there is a limit."""
        return any(one.limited for one in (*self.qos.values(), *self.associations.values()))


NO_TIME_USAGE = TimeUsage(0.0, {}, {})


class SiteLimits(NamedTuple):
    """Limits of a QOS, an account, a user or a partition of a scenario."""

    amounts: LimitSet = LimitSet()
    over_time: TimeLimits = NO_TIME_LIMITS


NO_LIMITS = SiteLimits()


class Qos(NamedTuple):
    """A QOS.

    Attributes
    ----------
    over_partition
        Whether its limits come before those of the partition's QOS.
    factor
        Factor of the limits of associations for its jobs; None for 1.
    usage_factor_safe
        Whether `usage_factor` also holds for the time that a job asks for.
    """

    name: str
    limits: LimitSet = LimitSet()
    over_partition: bool = False
    factor: float | None = None
    usage_factor: float = 1.0
    usage_factor_safe: bool = False
    title: str = ""

    @property
    def words(self) -> str:
        """Its title, or else its name, in words."""
        return self.title or f"QOS {self.name}"

    @property
    def relative(self) -> bool:
        """True if its limits are shares of the cluster, which are left to Slurm."""
        return RELATIVE in self.limits.left


class Association(NamedTuple):
    """An account on a cluster, or a user of one, maybe in one partition only."""

    cluster: str
    account: str
    user: str
    partition: str
    parent: str
    limits: LimitSet

    @property
    def words(self) -> str:
        """The association in words."""
        user = f"user {self.user} in " if self.user else ""
        who = f"{user}account {self.account}"
        return f"{who} in partition {self.partition}" if self.partition else who


class Holder(NamedTuple):
    """Names that decide which limits hold for a job."""

    cluster: str
    account: str
    user: str
    partition: str
    qos: str
    partition_qos: str
