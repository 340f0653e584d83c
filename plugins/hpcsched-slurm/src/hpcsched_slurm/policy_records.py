"""Records of QOS and associations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Amounts = Mapping[str, int]
"""Amounts by the names of `ClusterJob.usage`: `jobs`, or as in a list of trackable resources."""

JOBS = "jobs"
RELATIVE = "Flags=Relative"
"""Name of the limits of a QOS that are shares, among those that are left to Slurm."""
_NOTHING: Amounts = MappingProxyType({})


class LimitSet(NamedTuple):
    """Limits of a QOS or an association; memory is in MiB.

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
    job_minutes
        Maximum of a job times its time limit in minutes.
    left
        Names of limits that are set and left to Slurm.
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


class Qos(NamedTuple):
    """A QOS.

    Attributes
    ----------
    over_partition
        Whether its limits come before those of the partition's QOS.
    factor
        Factor on the associations' limits on resources of its jobs.
    usage_factor
        Factor on the time that its jobs use.
    usage_factor_safe
        Whether that factor also holds for the time that a job asks for.
    """

    name: str
    limits: LimitSet
    over_partition: bool = False
    factor: float | None = None
    usage_factor: float = 1.0
    usage_factor_safe: bool = False

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
