"""The blocks `qos`, `accounts` and `limits`: declarations, and the objects built from them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from hpcsched.parameters import (
    Amount,
    Duration,
    Listed,
    Params,
    PositiveDuration,
    ResourceType,
)
from hpcsched.system.limits import JOBS, NODES, LimitSet, Metered, SiteLimits, TimeLimits
from hpcsched.workload.preemption import PreemptMode
from hpcsched.workload.site_policies import (
    PARENT,
    Account,
    Shares,
    SitePolicies,
    SiteQos,
)

Number = Annotated[int, Field(strict=False)]
"""Number of a user or queue as a key; keys of a scenario are texts."""

Queue = Annotated[Annotated[int, Field(strict=False)] | str, Field(union_mode="left_to_right")]
"""Number of a queue, or else its name."""

NotNegative = Annotated[float, Field(ge=0, le=10**15)]
_Shares = NotNegative | Literal["parent"]
_Amounts = Annotated[Mapping[str, Amount], ResourceType(beside=(JOBS, NODES))]
_Resources = Annotated[Mapping[str, Amount], ResourceType(beside=(NODES,))]


def _limit(description: str) -> Any:
    return Field(default_factory=dict, description=description)


class LimitsDeclaration(Params):
    """Limits: amounts by resource type, `nodes` or `jobs`; those over time in minutes of them."""

    total: _Amounts = _limit("Maximum of all running jobs together (GrpTRES, GrpJobs).")
    per_user: _Amounts = _limit(
        "Maximum of the running jobs of each user (MaxTRESPerUser, MaxJobsPerUser; of"
        " an account: MaxJobs)."
    )
    per_account: _Amounts = _limit(
        "Maximum of the running jobs of each account (MaxTRESPerAccount); not of an"
        " account or user itself."
    )
    per_job: _Resources = _limit("Maximum of each job (MaxTRESPerJob).")
    per_node: _Resources = _limit("Maximum of each job, per node that it may use (MaxTRESPerNode).")
    least: _Resources = _limit("Minimum of each job (MinTRES).")
    max_time: PositiveDuration | None = None
    """Maximum requested time: seconds, or with a unit (MaxWall)."""
    total_minutes: _Resources = _limit(
        "Maximum of all jobs so far, in minutes times amounts; a job starts only if it"
        " cannot exceed it (GrpTRESMins with `safe`)."
    )
    used_minutes: _Resources = _limit("Part of `total_minutes` used before the first job.")
    running_minutes: _Resources = _limit(
        "Maximum of what running jobs may still take, in minutes times amounts (GrpTRESRunMins)."
    )
    job_minutes: _Resources = _limit(
        "Maximum of each job: amounts times its requested time in minutes (MaxTRESMinsPerJob)."
    )
    wall_minutes: Amount | None = None
    """Maximum of the run times of all jobs so far, in minutes (GrpWall)."""
    used_wall_minutes: Amount = 0
    """Part of `wall_minutes` used before the first job."""

    def build(self, *, of_user: bool = False) -> SiteLimits:
        """Return the limits; those of a user hold for it alone."""
        if of_user and (self.per_user or self.per_account):
            raise ValueError("expected limits in total, per job or over time of a user")
        amounts = LimitSet(
            self.total,
            self.per_user,
            self.per_account,
            {},
            self.per_job,
            self.per_node,
            self.least,
            self.max_time,
            (),
            self.job_minutes,
        )
        used = self.used_minutes
        total = {
            name: Metered(most, used.get(name, 0)) for name, most in self.total_minutes.items()
        }
        running = {name: Metered(most, 0) for name, most in self.running_minutes.items()}
        wall = Metered(self.wall_minutes, self.used_wall_minutes)
        return SiteLimits(amounts, TimeLimits(total, running, wall))


class QosDeclaration(Params):
    """A quality of service: priority and limits of the jobs of a queue."""

    priority: NotNegative = 0
    """Priority in the order `multifactor`, in relation to the largest."""
    limits: LimitsDeclaration = Field(default_factory=LimitsDeclaration)
    """Limits of its jobs."""
    over_partition: bool = False
    """Whether its limits come before those of the partition (OverPartQOS)."""
    limit_factor: NotNegative | None = None
    """Factor of the limits of accounts and users on resources for its jobs (LimitFactor); 1 by
    default."""
    preempts: Annotated[tuple[Queue, ...], Listed] = ()
    """QOS whose jobs its jobs preempt with 'preempt: {by: qos}' (Preempt)."""
    mode: PreemptMode | None = None
    """What preemption by QOS does to its jobs (PreemptMode); 'preempt.mode' by default."""
    exempt: Duration | None = None
    """Run time before which its jobs are not preempted: seconds, or with a unit
    (PreemptExemptTime); 'preempt.exempt' by default."""
    grace: Duration | None = None
    """Time from the preemption of its jobs to their end: seconds, or with a unit (GraceTime);
    'preempt.grace' by default."""

    def build(self) -> SiteQos:
        """Return the QOS that is declared."""
        return SiteQos(self.priority, self.limits.build(), self.over_partition, self.limit_factor)


class UserDeclaration(Params):
    """A user of an account: shares and limits."""

    shares: _Shares = 1
    """Shares; see those of users."""
    limits: LimitsDeclaration = Field(default_factory=LimitsDeclaration)
    """Limits of the user's jobs in the account."""


class AccountDeclaration(Params):
    """An account: its place in the tree, its shares, its users, and its limits."""

    parent: str | None = None
    """Account that it is part of; the root of the tree if not given."""
    shares: _Shares = 1
    """Shares in relation to those of the users and accounts of the same parent; `parent`: its users
    and accounts count as those of its parent."""
    users: Mapping[Number, _Shares | UserDeclaration] = Field(default_factory=dict)
    """Shares of its users by user number, in relation to those of its other users and accounts;
    `parent`: those of the account; or `shares` and `limits`. A user may be in several accounts."""
    usage: Mapping[Number, NotNegative] = Field(default_factory=dict)
    """Usage of its users before the first job by user number, in seconds times units of `core`, or
    of the system's first resource type if it has no `core`."""
    groups: Annotated[tuple[int, ...], Listed] = ()
    """Group numbers of the trace that are charged to this account. Jobs of other groups are charged
    to the first account with their user."""
    other_users: bool = False
    """Whether users that no account names are in it, with 1 share each; without such an account
    they are in `others`, which has 1 share below the root."""
    limits: LimitsDeclaration = Field(default_factory=LimitsDeclaration)
    """Limits of its jobs and of those of all accounts below it; `per_user`, `per_job`, `per_node`,
    `least`, `max_time` and `job_minutes` hold for each user below it that has none of its own."""

    def build(self) -> Account:
        """Return the account that is declared."""
        full = {
            user: one if isinstance(one, UserDeclaration) else UserDeclaration(shares=one)
            for user, one in self.users.items()
        }
        shares: dict[int, Shares] = {user: _shares(one.shares) for user, one in full.items()}
        limits = {
            user: one.limits.build(of_user=True)
            for user, one in full.items()
            if one.limits.model_fields_set
        }
        return Account(
            self.parent,
            _shares(self.shares),
            shares,
            self.usage,
            self.groups,
            self.other_users,
            self.limits.build(),
            limits,
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        unknown = sorted(self.usage.keys() - self.users.keys())
        if unknown:
            raise ValueError(f"expected usage of its users, found that of {unknown[0]}")
        self.build()
        return self


def _shares(declared: float | str) -> Shares:
    return PARENT if isinstance(declared, str) else float(declared)


def _tree(accounts: dict[str, AccountDeclaration]) -> dict[str, AccountDeclaration]:
    """Return the accounts, or raise ValueError where they make no tree."""
    claimed: dict[int, str] = {}
    others = [name for name, account in accounts.items() if account.other_users]
    if len(others) > 1:
        raise ValueError(f"expected other_users in one account, found it in {', '.join(others)}")
    for name, account in accounts.items():
        path = [name]
        while (parent := accounts[path[-1]].parent) is not None:
            if parent not in accounts:
                message = f"parent {parent!r} of account {path[-1]!r} is not one of accounts"
                raise ValueError(message)
            if parent in path:
                raise ValueError(f"account {parent!r} is below itself: {' < '.join(path)}")
            path.append(parent)
        for group in account.groups:
            if claimed.setdefault(group, name) != name:
                raise ValueError(f"group {group} is in two accounts: {claimed[group]}, {name}")
    return accounts


DeclaredQos = dict[Queue, QosDeclaration]
DeclaredAccounts = Annotated[dict[str, AccountDeclaration], AfterValidator(_tree)]


def build_policies(
    qos: Mapping[int | str, QosDeclaration], accounts: Mapping[str, AccountDeclaration]
) -> SitePolicies:
    """Return the policies that are declared."""
    return SitePolicies(
        {name: one.build() for name, one in qos.items()},
        {name: one.build() for name, one in accounts.items()},
    )
