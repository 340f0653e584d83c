"""Limits of a job: those of its QOS, of its association and of the accounts above it.

The limits of a partition's QOS come before those of the job's QOS (after them, with the flag
`OverPartQOS`), and these before those of the association: the first that is set counts. Limits on
groups of an account hold for all accounts below it. Source: the page "Resource Limits" of SchedMD;
compared with what Slurm 22.05 does.
"""

from typing import NamedTuple

from hpcsched.system.cluster import ClusterLimit
from hpcsched_slurm.policy_reading import JOBS, Amounts, Association, Holder, LimitSet, Qos
from hpcsched_slurm.time_limits import NO_TIME_LIMITS, Metered, TimeLimits

MINUTES = "minutes"
"""Key of a job's time limit in minutes; `cpu minutes` is that of the same times its CPUs."""


def minutes_of(name: str) -> str:
    """Return the key of the minutes of a trackable resource."""
    return f"{name} {MINUTES}"


class JobBound(NamedTuple):
    """Limit of a single job: the counted amount, its bound, and its name."""

    counted: str
    bound: int
    name: str


class JobRules(NamedTuple):
    """Limits of a job: `groups` and `limits` are for all running jobs, the others for itself.

    Attributes
    ----------
    spent
        Limits of what has been used up, by the resource that a job must ask for to be concerned;
        `minutes` for any job.
    timed
        Resources that are limited over time: `usage` needs their minutes.
    counted_from
        Start in seconds since 1970 from which on a running job is not part of the usage that
        Slurm told.
    """

    groups: tuple[str, ...] = ()
    limits: tuple[ClusterLimit, ...] = ()
    most: tuple[JobBound, ...] = ()
    most_per_node: tuple[JobBound, ...] = ()
    least: tuple[JobBound, ...] = ()
    wall: tuple[int, str] | None = None
    spent: tuple[JobBound, ...] = ()
    timed: frozenset[str] = frozenset()
    asked_factor: float = 1.0
    used_factor: float = 1.0
    counted_from: int = 0

    def minutes(self, usage: Amounts, minutes: int, *, started: int | None) -> dict[str, int]:
        """Return the minutes by which a job counts.

        Parameters
        ----------
        started
            Start of a running job, in seconds since 1970; None for a waiting one.
        """
        if not self.timed or (started is not None and started < self.counted_from):
            return {}
        factor = self.asked_factor if started is None else self.used_factor
        time = int(minutes * factor)
        found = {minutes_of(name): time * usage.get(name, 0) for name in sorted(self.timed)}
        return {**found, MINUTES: time}

    def refusal(self, usage: Amounts, units: int, time_limit: int) -> str:
        """Return the limit that a job breaks by itself, in words; empty if it breaks none.

        Parameters
        ----------
        time_limit
            Its time limit in seconds.
        """
        for one in self.spent:
            if one.counted == MINUTES or usage.get(one.counted, 0) > 0:
                return one.name
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


class JobLimits:
    """Limits of a job while they are collected: of each, the first that is set counts.

    Parameters
    ----------
    own
        QOS of the job, which makes time count more or less; None without one.
    safe
        Whether Slurm starts a job only if it cannot use up a limit over time before it ends.
    """

    def __init__(self, own: Qos | None, *, safe: bool) -> None:
        self._groups: list[str] = []
        self._limits: list[ClusterLimit] = []
        self._bounds: dict[str, list[JobBound]] = {"job": [], "node": [], "least": [], "spent": []}
        self._timed: set[str] = set()
        self._safe = safe
        self._used_factor = 1.0 if own is None else own.usage_factor
        self._asked_factor = own.usage_factor if own is not None and own.usage_factor_safe else 1.0
        self._wall: tuple[int, str] | None = None
        self._set: set[tuple[str, str]] = set()

    def add_qos(self, qos: Qos, holder: Holder) -> None:
        """Add the limits of a QOS for the jobs of a holder."""
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
        """Add the limits of an association.

        Parameters
        ----------
        itself
            Whether it is the job's own, not an account above it.
        """
        who = one.words
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

        for name, amount in limits.job_minutes.items():
            self._timed.add(name)
            if ("job minutes", name) not in self._set:
                self._set.add(("job minutes", name))
                told = f"{who}: MaxTRESMinsPerJob {name}={amount}"
                self._bounds["job"].append(JobBound(minutes_of(name), amount, told))

    def add_time(self, who: str, limits: TimeLimits | None, *, of_qos: bool) -> None:
        """Add the limits over time of a QOS or an association.

        Parameters
        ----------
        limits
            Its limits; None if they are not known.
        """
        limits = NO_TIME_LIMITS if limits is None else limits
        for name in {**limits.total, **limits.running}:
            self._timed.add(name)
            runs = limits.running.get(name, Metered(None, 0))
            total = limits.total.get(name, Metered(None, 0))
            if total.most is not None and ("total", name) not in self._set:
                self._add_total(f"{who}: GrpTRESMins {name}", who, name, total, runs.used)
                self._set |= {("total", name)} if of_qos else set()
            if runs.most is not None and ("running", name) not in self._set:
                told = f"{who}: GrpTRESRunMins {name}={runs.most}"
                self._add_minutes(told, who, name, runs.most, runs.used)
                self._set |= {("running", name)} if of_qos else set()
        if limits.wall.most is not None and ("wall", MINUTES) not in self._set:
            self._timed_wall(who, limits.wall.most, limits.wall.used)
            self._set |= {("wall", MINUTES)} if of_qos else set()

    def _add_total(self, told: str, who: str, name: str, total: Metered, running: int) -> None:
        most = total.most or 0
        # Slurm counts no former usage against jobs that use nothing themselves.
        used = total.used if self._used_factor else 0
        told = f"{told}={most}, of which {used} are used"
        if used >= most:
            self._bounds["spent"].append(JobBound(name, most, told))
        elif self._safe:
            self._add_minutes(told, who, name, most - used, running)

    def _add_minutes(self, told: str, who: str, name: str, most: int, running: int) -> None:
        if self._used_factor:
            self._limits.append(ClusterLimit(who, minutes_of(name), most, told, running))
        else:
            self._bounds["job"].append(JobBound(minutes_of(name), most, told))

    def _timed_wall(self, who: str, most: int, used: int) -> None:
        told = f"{who}: GrpWall={most} minutes, of which {used} are used"
        if used >= most:
            self._bounds["spent"].append(JobBound(MINUTES, most, told))
        elif self._safe:
            self._timed.add(MINUTES)  # what it counts with is the time limit alone
            self._bounds["job"].append(JobBound(MINUTES, most - used, told))

    def found(self, counted_from: int) -> JobRules:
        """Return the limits; see `JobRules` for `counted_from`."""
        return JobRules(
            tuple(self._groups),
            tuple(self._limits),
            tuple(self._bounds["job"]),
            tuple(self._bounds["node"]),
            tuple(self._bounds["least"]),
            self._wall,
            tuple(self._bounds["spent"]),
            frozenset(self._timed),
            self._asked_factor,
            self._used_factor,
            counted_from,
        )


def _times(amount: int, name: str, factor: float) -> int:
    """Return a limit on a resource times the factor of a QOS; numbers of jobs have none."""
    return amount if name == JOBS else int(amount * factor)


def _named(word: str, name: str) -> str:
    """Return the name of a limit as Slurm has it: `GrpJobs=`, `MaxTRESPerUser cpu=`."""
    if name == JOBS:
        return {"Grp": "GrpJobs=", "Max": "MaxJobs="}.get(word, f"MaxJobs{word}=")
    return f"GrpTRES {name}=" if word == "Grp" else f"MaxTRES{word} {name}="
