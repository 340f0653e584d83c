"""Rules of a cluster for its jobs: partitions, QOS, associations and licences."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hpcsched.system.cluster import ClusterJob
from hpcsched.system.limits import JOBS, Holder
from hpcsched.system.policies import Policies
from hpcsched_slurm.licenses import NO_LICENSES, Licenses
from hpcsched_slurm.partition_limits import NO_PARTITIONS, Asker, PartitionLimits, Partitions
from hpcsched_slurm.policy_reading import LICENSE, tres_amounts
from hpcsched_slurm.syntax.gres import license_resource, parse_licenses
from hpcsched_slurm.time_limits import rules_now
from hpcsched_slurm.versions import whole

_ENDING = "COMPLETING"
_MEBIBYTE = 2**20
_UNLIMITED = PartitionLimits("")
_UNLIMITED_MINUTES = 2**32 - 1


class Rules(NamedTuple):
    """Rules as they were last read; without policies, Slurm enforces no limits of accounting.

    Attributes
    ----------
    subaccounts
        Whether the lists of accounts of partitions include the accounts below these.
    """

    partitions: Partitions = NO_PARTITIONS
    policies: Policies | None = None
    licenses: Licenses = NO_LICENSES
    subaccounts: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about parts that are left to Slurm."""
        policies = () if self.policies is None else self.policies.warnings
        return (*self.partitions.warnings, *policies, *self.licenses.warnings)

    def limits_of(self, partition: str) -> PartitionLimits:
        """Return the limits of a partition; none if nothing is known of it."""
        return self.partitions.limits.get(partition, _UNLIMITED)

    def exclusive(self, partitions: Iterable[str]) -> bool:
        """Return whether one of some partitions gives whole nodes."""
        return any(self.limits_of(name).exclusive for name in partitions)

    def admitting(
        self, job: Mapping[str, Any], units: int, amounts: Mapping[str, int]
    ) -> tuple[tuple[str, ...], str]:
        """Return the job's partitions that admit it, and the limit of the first that does not."""
        asker = self._asker(job, units, amounts)
        names = str(job["partition"]).split(",")
        refusals = {name: self.limits_of(name).refusal(asker) for name in names}
        admitting = tuple(name for name in names if not refusals[name])
        return admitting, next(filter(None, refusals.values()), "")

    def _asker(self, job: Mapping[str, Any], units: int, amounts: Mapping[str, int]) -> Asker:
        account, above = str(job.get("account") or ""), None
        if not self.subaccounts:
            above = frozenset[str]()
        elif self.policies is not None:
            above = self.policies.accounts_above(str(job.get("cluster") or ""), account)
        return Asker(
            frozenset({account}) | (above or frozenset()),
            str(job.get("qos") or ""),
            units,
            amounts["core"],
            amounts["mem"] // _MEBIBYTE,
            None if job["time_limit"] is None else whole(job, "time_limit") * 60,
            str(job.get("user_name") or job["user_id"]) if job["user_id"] else "",
            above is not None,
        )

    def not_expressed(self, job: Mapping[str, Any], units: int, amounts: Mapping[str, int]) -> str:
        """Return a part of the request that only Slurm can make sense of; empty without one."""
        limits = self.limits_of(str(job["partition"]).split(",")[0])
        if limits.min_nodes > units:  # Slurm gives such a job more nodes than it asks for
            return f"fewer nodes than its partition has as MinNodes, {limits.min_nodes}"
        unclear = limits.unclear(self._asker(job, units, amounts))
        if unclear:
            return unclear
        text = str(job.get("licenses") or "")
        try:
            parse_licenses(text)
        except ValueError:
            return f"the licences {text}"
        return ""

    def apply(
        self, job: Mapping[str, Any], found: ClusterJob, partition: str, most: Mapping[str, int]
    ) -> ClusterJob:
        """Return a job with its groups, limits, usage and licences; blocked if it breaks one.

        Parameters
        ----------
        found
            The job without them.
        most
            Amounts by which a waiting job may count at most: CPUs, memory in MiB.
        """
        if found.phase == "ended" or job["job_state"] == _ENDING:  # Slurm counts it no more
            return found
        drawn = _licenses(job)
        found = found._replace(shared={license_resource(n): count for n, count in drawn.items()})
        if self.policies is None:
            return found
        rules = rules_now(self.policies.of(self._holder(job, partition)), self.policies)
        usage = _usage(job, found, most, drawn)
        started = found.start_time if found.phase == "running" else None
        usage |= rules.minutes(usage, _minutes(job), started=started)
        found = found._replace(groups=rules.rules.groups, usage=usage)
        if found.phase == "running":
            return found
        found = found._replace(limits=rules.limits)
        why = rules.refusal(usage, found.units, whole(job, "time_limit") * 60)
        if found.phase == "waiting" and why and not _told_to_start(found):
            return found._replace(phase="blocked", held=False, why=why)
        return found

    def _holder(self, job: Mapping[str, Any], partition: str) -> Holder:
        return Holder(
            str(job.get("cluster") or ""),
            str(job.get("account") or ""),
            str(job.get("user_name") or ""),
            partition,
            str(job.get("qos") or ""),
            self.limits_of(partition).qos,
        )


NO_CLUSTER_RULES = Rules()


def _licenses(job: Mapping[str, Any]) -> dict[str, int]:
    # Later versions tell which of several alternatives a running job got.
    text = str(job.get("licenses_allocated") or job.get("licenses") or "")
    try:
        return parse_licenses(text)
    except ValueError:
        return {}


def _usage(
    job: Mapping[str, Any], found: ClusterJob, most: Mapping[str, int], drawn: Mapping[str, int]
) -> dict[str, int]:
    running = found.phase == "running"
    told = tres_amounts(str(job.get("tres_alloc_str" if running else "tres_req_str") or ""))
    if not running:
        told = {name: max(told.get(name, 0), most.get(name, 0)) for name in {**told, **most}}
        told["node"] = max(found.units, told.get("node", 0))
    # Where Slurm does not count licences as trackable resources, no limit names them.
    return {**told, JOBS: 1, **{LICENSE + name: count for name, count in drawn.items()}}


def _minutes(job: Mapping[str, Any]) -> int:
    """Return the time limit in minutes; a job without one counts as it does in Slurm."""
    return _UNLIMITED_MINUTES if job["time_limit"] is None else whole(job, "time_limit")


def _told_to_start(job: ClusterJob) -> bool:
    """Return whether a job waits in Slurm for certain nodes; hpcsched counts these as its own."""
    return job.phase == "waiting" and bool(job.wanted) and not job.held


def node_limits(rules: Rules) -> dict[str, int]:
    """Return `MaxCPUsPerNode` of the partitions that have it, by name."""
    limits = rules.partitions.limits.values()
    return {one.name: one.cpus_per_node for one in limits if one.cpus_per_node is not None}
