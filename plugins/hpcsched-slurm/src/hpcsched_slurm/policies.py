"""Limits of QOS and associations, and which of them a job must keep to.

The limits of a partition's QOS come before those of the job's QOS (after them, with the flag
`OverPartQOS`), and these before those of the association: the first that is set counts. Limits on
groups of an account hold for all accounts below it. Source: the page "Resource Limits" of SchedMD;
compared with what Slurm 22.05 does.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hpcsched.system.cluster import ClusterLimit

Amounts = Mapping[str, int]
"""Amounts by the names of `ClusterJob.usage`: `jobs`, or as in a list of trackable resources."""

JOBS = "jobs"
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


class Qos(NamedTuple):
    """A QOS; `factor` multiplies the associations' limits on resources of its jobs."""

    name: str
    limits: LimitSet
    over_partition: bool = False
    factor: float | None = None


class Association(NamedTuple):
    """An account on a cluster, or a user of one, maybe in one partition only."""

    cluster: str
    account: str
    user: str
    partition: str
    parent: str
    limits: LimitSet


class Holder(NamedTuple):
    """Names that decide which limits hold for a job."""

    cluster: str
    account: str
    user: str
    partition: str
    qos: str
    partition_qos: str


class JobBound(NamedTuple):
    """Limit of a single job: the counted amount, its bound, and its name."""

    counted: str
    bound: int
    name: str


class JobRules(NamedTuple):
    """Limits of a job; the first three fields are for all running jobs, the others for itself."""

    groups: tuple[str, ...] = ()
    limits: tuple[ClusterLimit, ...] = ()
    most: tuple[JobBound, ...] = ()
    most_per_node: tuple[JobBound, ...] = ()
    least: tuple[JobBound, ...] = ()
    wall: tuple[int, str] | None = None

    def refusal(self, usage: Amounts, units: int, time_limit: int) -> str:
        """Return the limit that a job breaks by itself, in words; empty if it breaks none.

        Parameters
        ----------
        usage
            Amounts of the job.
        units
            Number of its nodes.
        time_limit
            Its time limit in seconds.
        """
        for one in self.most:
            if usage.get(one.counted, 0) > one.bound:
                return f"{one.name}, and it asks for {usage[one.counted]}"
        for one in self.most_per_node:
            if usage.get(one.counted, 0) > one.bound * units:
                return f"{one.name}, and it asks for {usage[one.counted]} on {units}"
        for one in self.least:
            if usage.get(one.counted, 0) < one.bound:
                return f"{one.name}, and it asks for {usage.get(one.counted, 0)}"
        if self.wall is not None and time_limit > self.wall[0]:
            return f"{self.wall[1]}, and it asks for {-(-time_limit // 60)} minutes"
        return ""


NO_RULES = JobRules()


class Policies:
    """All QOS and associations that Slurm enforces.

    Attributes
    ----------
    warnings
        Sentences about limits that are left to Slurm.
    """

    def __init__(
        self,
        qos: Iterable[Qos] = (),
        associations: Iterable[Association] = (),
        warnings: Iterable[str] = (),
    ) -> None:
        self._qos = {one.name: one for one in qos}
        self._associations = {
            (one.cluster, one.account, one.user, one.partition): one for one in associations
        }
        self._known: dict[Holder, JobRules] = {}
        self.warnings = (*warnings, *_left(self._qos.values(), self._associations.values()))

    def of(self, holder: Holder) -> JobRules:
        """Return the limits of the jobs of a holder."""
        found = self._known.get(holder)
        if found is None:
            found = self._known[holder] = self._rules(holder)
        return found

    def _rules(self, holder: Holder) -> JobRules:
        first, second = self._qos.get(holder.partition_qos), self._qos.get(holder.qos)
        if second is not None and second.over_partition:
            first, second = second, first
        both = [one for one in (first, second) if one is not None]
        if len(both) == 2 and both[0].name == both[1].name:
            both.pop()
        made = _Rules()
        for qos in both:
            made.add_qos(qos, holder)
        factor = next((one.factor for one in both if one.factor is not None), 1.0)
        chain = self._chain(holder)
        for k, association in enumerate(chain):
            made.add_association(association, factor, itself=not k)
        return made.found()

    def _chain(self, holder: Holder) -> list[Association]:
        """Return the association of a job and those of its account and all above it."""
        found = []
        for partition in (holder.partition, ""):
            own = self._associations.get((holder.cluster, holder.account, holder.user, partition))
            if own is not None:
                found.append(own)
                break
        account, seen = holder.account, set[str]()
        while account and account not in seen:
            seen.add(account)
            above = self._associations.get((holder.cluster, account, "", ""))
            if above is None:
                break
            found.append(above)
            account = above.parent
        return found


class _Rules:
    """Limits of a job while they are collected: of each, the first that is set counts."""

    def __init__(self) -> None:
        self._groups: list[str] = []
        self._limits: list[ClusterLimit] = []
        self._bounds: dict[str, list[JobBound]] = {"job": [], "node": [], "least": []}
        self._wall: tuple[int, str] | None = None
        self._set: set[tuple[str, str]] = set()

    def add_qos(self, qos: Qos, holder: Holder) -> None:
        who, limits = f"QOS {qos.name}", qos.limits
        every = {
            "group": ("Grp", who),
            "account": ("PerAccount", f"account {holder.account} in {who}"),
            "user": ("PerUser", f"user {holder.user} in {who}"),
        }
        for scope, (word, group) in every.items():
            amounts: Amounts = getattr(limits, scope)
            self._add_group(scope, group, who, word, amounts)
        self._add_job(who, limits, 1.0)

    def add_association(self, one: Association, factor: float, *, itself: bool) -> None:
        who = f"user {one.user} in account {one.account}" if one.user else f"account {one.account}"
        if one.partition:
            who += f" in partition {one.partition}"
        group = {name: _times(amount, name, factor) for name, amount in one.limits.group.items()}
        # A limit of a QOS replaces those of all accounts, which do not replace each other's.
        unset = {name: a for name, a in group.items() if ("group", name) not in self._set}
        self._add_limits(who, who, "Grp", unset)
        if not itself:
            return
        if not {("user", JOBS), ("account", JOBS)} & self._set:
            self._add_limits(who, who, "Max", one.limits.own)
        self._add_job(who, one.limits, factor)

    def _add_group(self, scope: str, group: str, who: str, word: str, amounts: Amounts) -> None:
        unset = {name: a for name, a in amounts.items() if (scope, name) not in self._set}
        self._set.update((scope, name) for name in unset)
        self._add_limits(group, who, word, unset)

    def _add_limits(self, group: str, who: str, word: str, amounts: Amounts) -> None:
        if group not in self._groups:
            self._groups.append(group)
        for name, amount in amounts.items():
            self._limits.append(ClusterLimit(group, name, amount, f"{who}: {_named(word, name)}"
                                             f"{amount}"))  # fmt: skip

    def _add_job(self, who: str, limits: LimitSet, factor: float) -> None:
        words = {"job": "MaxTRESPerJob", "node": "MaxTRESPerNode", "least": "MinTRES"}
        for scope, word in words.items():
            amounts: Amounts = getattr(limits, scope)
            for name, amount in amounts.items():
                if (scope, name) in self._set:
                    continue
                self._set.add((scope, name))
                bound = _times(amount, name, factor) if scope == "job" else amount
                self._bounds[scope].append(JobBound(name, bound, f"{who}: {word} {name}={bound}"))
        if self._wall is None and limits.wall is not None:
            self._wall = limits.wall, f"{who}: MaxWall={limits.wall // 60} minutes"

    def found(self) -> JobRules:
        return JobRules(
            tuple(self._groups),
            tuple(self._limits),
            tuple(self._bounds["job"]),
            tuple(self._bounds["node"]),
            tuple(self._bounds["least"]),
            self._wall,
        )


def _times(amount: int, name: str, factor: float) -> int:
    """Return a limit on a resource times the factor of a QOS; numbers of jobs have none."""
    return amount if name == JOBS else int(amount * factor)


def _named(word: str, name: str) -> str:
    """Return the name of a limit as Slurm has it: `GrpJobs=`, `MaxTRESPerUser cpu=`."""
    if name == JOBS:
        return {"Grp": "GrpJobs=", "Max": "MaxJobs="}.get(word, f"MaxJobs{word}=")
    return f"GrpTRES {name}=" if word == "Grp" else f"MaxTRES{word} {name}="


def _left(qos: Iterable[Qos], associations: Iterable[Association]) -> Iterable[str]:
    """Yield a sentence about each kind of limit that is set and left to Slurm."""
    by_limit: dict[str, list[str]] = {}
    for one in qos:
        for name in one.limits.left:
            by_limit.setdefault(name, []).append(f"QOS {one.name}")
    for own in associations:
        who = f"user {own.user} in account {own.account}" if own.user else f"account {own.account}"
        for name in own.limits.left:
            by_limit.setdefault(name, []).append(who)
    for name, owners in by_limit.items():
        shown = ", ".join(owners[:3])
        more = f" and {len(owners) - 3} others" if len(owners) > 3 else ""
        yield f"the limit {name} of {shown}{more} is left to Slurm"
