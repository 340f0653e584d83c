"""Which limits of QOS and associations a job must keep to.

The limits of a partition's QOS come before those of the job's QOS (after them, if that one is
`over_partition`), and these before those of the association: the first that is set counts. Limits
on groups of an account hold for all accounts below it. Source: the page "Resource Limits" of
SchedMD; compared with what Slurm 22.05 does.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.limits import (
    JOBS,
    NO_TIME_LIMITS,
    NO_TIME_USAGE,
    NODES,
    Amounts,
    Association,
    Holder,
    LimitSet,
    Metered,
    Qos,
    TimeLimits,
    TimeUsage,
)

MINUTES = "minutes"
"""Key of a job's time limit in minutes; `cpu minutes` is that of the same times its CPUs."""

TIME_LIMITS = ("GrpTRESMins", "GrpTRESRunMins", "GrpWall")
"""Limits that a group of jobs uses up over time; `MaxTRESMins` is one of each job."""


def minutes_of(name: str) -> str:
    """Return the key of the minutes of a resource."""
    return f"{name} {MINUTES}"


class JobBound(NamedTuple):
    """Limit of a single job: the counted amount, its bound, and its name."""

    counted: str
    bound: int
    name: str


class TimeBound(NamedTuple):
    """Limit over time of a group of jobs.

    Attributes
    ----------
    counted
        Name of the resource; `minutes` for `wall`.
    limit
        Maximum, and usage when the limits were read, in minutes.
    running
        Minutes that running jobs were still to take then.
    """

    kind: Literal["total", "running", "wall"]
    group: str
    counted: str
    limit: Metered
    running: int
    name: str


class Counter(NamedTuple):
    """Limited amount of a group of jobs, also where another limit replaces it for a job.

    Attributes
    ----------
    kind
        `amount` of running jobs, or one of `TimeBound`.
    used
        Minutes used when the limits were read.
    """

    group: str
    kind: Literal["amount", "total", "running", "wall"]
    name: str
    used: int


class JobRules(NamedTuple):
    """Limits of a job: `groups` and `limits` are for all running jobs, the others for itself.

    Attributes
    ----------
    groups
        Groups in which it counts while it runs.
    wall
        Largest time limit, in seconds, and its name.
    over_time
        Limits over time of its groups.
    counters
        What is limited of its groups.
    """

    groups: tuple[str, ...] = ()
    limits: tuple[ClusterLimit, ...] = ()
    most: tuple[JobBound, ...] = ()
    most_per_node: tuple[JobBound, ...] = ()
    least: tuple[JobBound, ...] = ()
    wall: tuple[int, str] | None = None
    over_time: tuple[TimeBound, ...] = ()
    asked_factor: float = 1.0
    used_factor: float = 1.0
    counters: tuple[Counter, ...] = ()

    def refusal(self, usage: Amounts, units: int, time_limit: int) -> str:
        """Return the limit that a job breaks by itself, in words; empty if it breaks none.

        Parameters
        ----------
        usage
            Amounts by which it counts; with the key `minutes_of(name)`, those times its time limit.
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

    def never_starts(self, asked: Amounts, units: int, time_limit: int) -> bool:
        """Return whether limits keep a job waiting whatever runs.

        Parameters
        ----------
        asked
            Amounts by resource type.
        units
            Largest number of nodes on which it could be.
        time_limit
            Its time limit in seconds.
        """
        usage = {**asked, JOBS: 1, NODES: units}
        timed = {minutes_of(name): -(-value * time_limit // 60) for name, value in usage.items()}
        if self.refusal(usage | timed, units, time_limit):
            return True
        return any(usage.get(one.counted, 0) > one.most for one in self.limits) or any(
            usage.get(one.counted, 1) * time_limit
            > 60 * ((one.limit.most or 0) - (one.limit.used if one.kind != "running" else 0))
            for one in self.over_time
        )


class _JobLimits:
    """Limits of a job while they are collected: of each, the first that is set counts."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.limits: list[ClusterLimit] = []
        self.bounds: dict[str, list[JobBound]] = {"job": [], "node": [], "least": []}
        self.over_time: list[TimeBound] = []
        self.wall: tuple[int, str] | None = None
        self.counters: dict[Counter, None] = {}
        self._set: set[tuple[str, str]] = set()

    def add_qos(self, qos: Qos, holder: Holder) -> None:
        """Add the limits of a QOS for the jobs of a holder."""
        who, limits = qos.words, qos.limits
        every = {
            "group": ("Grp", who),
            "account": ("PerAccount", f"account {holder.account} in {who}"),
            "user": ("PerUser", f"user {holder.user} in {who}"),
        }
        for scope, (word, group) in every.items():
            unset = {
                name: amount
                for name, amount in getattr(limits, scope).items()
                if (scope, name) not in self._set
            }
            self._set.update((scope, name) for name in unset)
            if scope == "user" and not holder.user:
                # A job of an unknown user has a user of its own: only itself counts.
                told = {name: f"{who}: {_named(word, name)}{unset[name]}" for name in unset}
                self.bounds["job"] += [JobBound(name, unset[name], told[name]) for name in unset]
            else:
                self._count(group, getattr(limits, scope))
                self._add_limits(group, who, word, unset)
        self._add_job(who, limits, 1.0)

    def add_association(self, one: Association, factor: float, *, itself: bool) -> None:
        """Add the limits of an association.

        Parameters
        ----------
        itself
            Whether it is the job's own, not an account above it.
        """
        who = one.words
        self._count(who, {**one.limits.group, **one.limits.own})
        group = {name: _times(amount, name, factor) for name, amount in one.limits.group.items()}
        # A limit of a QOS replaces those of all accounts, which do not replace each other's.
        unset = {name: a for name, a in group.items() if ("group", name) not in self._set}
        self._add_limits(who, who, "Grp", unset)
        if not itself:
            return
        unset = {
            name: _times(amount, name, factor)
            for name, amount in one.limits.own.items()
            if not {("user", name), ("account", name)} & self._set
        }
        self._add_limits(who, who, "Max", unset)
        self._add_job(who, one.limits, factor)

    def _add_limits(self, group: str, who: str, word: str, amounts: Amounts) -> None:
        if group not in self.groups:
            self.groups.append(group)
        for name, amount in amounts.items():
            words = f"{who}: {_named(word, name)}{amount}"
            self.limits.append(ClusterLimit(group, name, amount, words))

    def _count(self, group: str, names: Iterable[str]) -> None:
        self.counters.update((Counter(group, "amount", name, 0), None) for name in names)

    def _add_job(self, who: str, limits: LimitSet, factor: float) -> None:
        words = {"job": "MaxTRESPerJob", "node": "MaxTRESPerNode", "least": "MinTRES"}
        for scope, word in words.items():
            amounts: Amounts = getattr(limits, scope)
            for name, amount in amounts.items():
                if (scope, name) in self._set:
                    continue
                self._set.add((scope, name))
                bound = _times(amount, name, factor) if scope == "job" else amount
                self.bounds[scope].append(JobBound(name, bound, f"{who}: {word} {name}={bound}"))
        if self.wall is None and limits.wall is not None:
            self.wall = limits.wall, f"{who}: MaxWall={limits.wall // 60} minutes"
        for name, amount in limits.job_minutes.items():
            if ("job minutes", name) not in self._set:
                self._set.add(("job minutes", name))
                told = f"{who}: MaxTRESMinsPerJob {name}={amount}"
                self.bounds["job"].append(JobBound(minutes_of(name), amount, told))

    def add_time(self, who: str, limits: TimeLimits, *, of_qos: bool) -> None:
        """Add the limits over time of a QOS or an association."""
        for name in {**limits.total, **limits.running}:
            runs = limits.running.get(name, Metered(None, 0))
            total = limits.total.get(name, Metered(None, 0))
            self._add_time("total", who, name, total, runs.used, of_qos=of_qos)
            self._add_time("running", who, name, runs, runs.used, of_qos=of_qos)
        self._add_time("wall", who, MINUTES, limits.wall, 0, of_qos=of_qos)

    def _add_time(
        self,
        kind: Literal["total", "running", "wall"],
        who: str,
        name: str,
        limit: Metered,
        running: int,
        *,
        of_qos: bool,
    ) -> None:
        if limit.most is not None:
            self.counters[Counter(who, kind, name, limit.used)] = None
        if limit.most is None or (kind, name) in self._set:
            return
        words = {
            "total": f"GrpTRESMins {name}={limit.most}",
            "running": f"GrpTRESRunMins {name}={limit.most}",
            "wall": f"GrpWall={limit.most} minutes",
        }
        told = f"{who}: {words[kind]}"
        self.over_time.append(TimeBound(kind, who, name, limit, running, told))
        if of_qos:
            self._set.add((kind, name))


def _times(amount: int, name: str, factor: float) -> int:
    """Return a limit on a resource times the factor of a QOS; numbers of jobs have none."""
    return amount if name == JOBS else int(amount * factor)


def _named(word: str, name: str) -> str:
    """Return the name of a limit as Slurm has it: `GrpJobs=`, `MaxTRESPerUser cpu=`."""
    if name == JOBS:
        return {"Grp": "GrpJobs=", "Max": "MaxJobs="}.get(word, f"MaxJobs{word}=")
    return f"{word}TRES {name}=" if word in {"Grp", "Max"} else f"MaxTRES{word} {name}="


class Policies:
    """All QOS and associations, and the limits that follow from them.

    Attributes
    ----------
    safe
        Whether a job starts only if it cannot use up a limit over time before it ends.
    usage
        Limits over time and usage.
    warnings
        Sentences about limits that are left to the workload manager.

    Parameters
    ----------
    warnings
        Sentences about those that are not understood.
    """

    def __init__(
        self,
        qos: Iterable[Qos] = (),
        associations: Iterable[Association] = (),
        warnings: Iterable[str] = (),
        *,
        usage: TimeUsage | None = None,
        safe: bool = False,
    ) -> None:
        self._qos = {one.name: one for one in qos}
        self._associations = {one[:4]: one for one in associations}
        self._known: dict[Holder, JobRules] = {}
        self.usage = NO_TIME_USAGE if usage is None else usage
        self.safe = safe
        self.warnings = (*warnings, *self._left())

    def of(self, holder: Holder) -> JobRules:
        """Return the limits of the jobs of a holder."""
        found = self._known.get(holder)
        if found is None:
            found = self._known[holder] = self._rules(holder)
        return found

    def add(self, association: Association) -> None:
        """Add an association, unless there is one of its account and user."""
        self._associations.setdefault(association[:4], association)

    def _rules(self, holder: Holder) -> JobRules:
        first, second = self._qos.get(holder.partition_qos), self._qos.get(holder.qos)
        if second is not None and second.over_partition:
            first, second = second, first
        both = [one for one in (first, second) if one is not None]
        if len(both) == 2 and both[0].name == both[1].name:
            both.pop()
        made = _JobLimits()
        for qos in both:
            made.add_qos(qos, holder)
            # Of a QOS whose limits are shares, nothing is kept.
            limits = None if qos.relative else self.usage.qos.get(qos.name)
            made.add_time(qos.words, limits or NO_TIME_LIMITS, of_qos=True)
        factor = next((one.factor for one in both if one.factor is not None), 1.0)
        for k, association in enumerate(self._chain(holder)):
            made.add_association(association, factor, itself=not k)
            limits = self.usage.associations.get(association[:4])
            made.add_time(association.words, limits or NO_TIME_LIMITS, of_qos=False)
        own = self._qos.get(holder.qos, Qos(""))
        return JobRules(
            tuple(made.groups),
            # Slurm looks at numbers of jobs first.
            tuple(sorted(made.limits, key=lambda one: one.counted != JOBS)),
            tuple(made.bounds["job"]),
            tuple(made.bounds["node"]),
            tuple(made.bounds["least"]),
            made.wall,
            tuple(made.over_time),
            own.usage_factor if own.usage_factor_safe else 1.0,
            own.usage_factor,
            tuple(made.counters),
        )

    def _chain(self, holder: Holder) -> list[Association]:
        """Return the association of a job and those of its account and all above it."""
        found = []
        for partition in (holder.partition, ""):
            own = self._associations.get((holder.cluster, holder.account, holder.user, partition))
            if own is not None and holder.user:
                found.append(own)
                break
        return [*found, *self._accounts(holder.cluster, holder.account)]

    def accounts_above(self, cluster: str, account: str) -> frozenset[str] | None:
        """Return the names of the accounts above one; None if it is not known."""
        found = frozenset(one.account for one in self._accounts(cluster, account))
        return found - {account} if account in found else None

    def _accounts(self, cluster: str, account: str) -> Iterator[Association]:
        """Yield the association of an account and those above it."""
        seen = set[str]()
        while account and account not in seen:
            seen.add(account)
            found = self._associations.get((cluster, account, "", ""))
            if found is None:
                break
            yield found
            account = found.parent

    def _left(self) -> Iterable[str]:
        """Yield a sentence about each kind of limit that is set and left to Slurm."""
        by_limit: dict[str, list[str]] = {}
        owners = [
            *((one.words, one.limits, name in self.usage.qos)
              for name, one in self._qos.items()),
            *((one.words, one.limits, key in self.usage.associations)
              for key, one in self._associations.items()),
        ]  # fmt: skip
        for who, limits, told in owners:
            for name in limits.left:
                if not (told and name in TIME_LIMITS):
                    by_limit.setdefault(name, []).append(who)
        for name, named in by_limit.items():
            shown = ", ".join(named[:3])
            more = f" and {len(named) - 3} others" if len(named) > 3 else ""
            yield f"the limit {name} of {shown}{more} is left to Slurm"
