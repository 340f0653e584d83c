"""QOS and accounts of a site, and the limits that follow from them for each job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, Self

from hpcsched.system.limits import (
    NO_LIMITS,
    NODES,
    Association,
    AssociationKey,
    Holder,
    LimitSet,
    Qos,
    SiteLimits,
    TimeLimits,
    TimeUsage,
)
from hpcsched.system.policies import JobRules, Policies
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions

PARENT: Final = "parent"
"""Shares of a user or an account that counts with those of its parent."""

Shares = float | Literal["parent"]
"""Shares in relation to those of the siblings, or `parent`."""

OTHERS = "others"
"""Account of users that no account names, where none is declared for them."""


@dataclass(frozen=True, slots=True)
class SiteQos:
    """A QOS: priority and limits of its jobs; the others are as in `Qos`."""

    priority: float = 0
    limits: SiteLimits = NO_LIMITS
    over_partition: bool = False
    limit_factor: float | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An account: its place in the tree, its users and its limits.

    Attributes
    ----------
    parent
        Name of the account above; None below the root.
    users, usage, user_limits
        Shares, usage before the first job in core-seconds, and limits of its users, by number.
    groups
        Groups of the trace that are charged to it.
    other_users
        Whether users that no account names are in it.
    limits
        Limits of the account; those of single jobs and `own` hold for each user.
    """

    parent: str | None = None
    shares: Shares = 1.0
    users: Mapping[int, Shares] = field(default_factory=dict)
    usage: Mapping[int, float] = field(default_factory=dict)
    groups: tuple[int, ...] = ()
    other_users: bool = False
    limits: SiteLimits = NO_LIMITS
    user_limits: Mapping[int, SiteLimits] = field(default_factory=dict)


class SitePolicies:
    """QOS by number or name of a queue, and accounts by name; possibly none.

    Attributes
    ----------
    other_account
        Account of users that no account names.
    """

    def __init__(
        self,
        qos: Mapping[int | str, SiteQos] = MappingProxyType({}),
        accounts: Mapping[str, Account] = MappingProxyType({}),
    ) -> None:
        self.qos, self.accounts = qos, accounts
        others = [name for name, account in accounts.items() if account.other_users]
        self.other_account = others[0] if others else OTHERS
        self._of_group: dict[int, str] = {}
        self._of_user: dict[int, str] = {}
        for name, account in accounts.items():
            self._of_group.update(dict.fromkeys(account.groups, name))
            for user in account.users:
                # The first account that names a user is the user's default account.
                self._of_user.setdefault(user, name)
        self.largest_priority = max((one.priority for one in qos.values()), default=0)

    def account_of(self, job: Job) -> str:
        """Return the account to which a job is charged.

        It is that of the job's group, else the first that names the user, else that of other users.
        """
        account = None if job.group is None else self._of_group.get(job.group)
        if account is None and job.user is not None:
            account = self._of_user.get(job.user)
        return self.other_account if account is None else account

    def qos_of(self, job: Job) -> int | str | None:
        """Return the number or name of a job's QOS; None if its queue is none."""
        names = (job.queue, job.queue_name)
        return next((name for name in names if name is not None and name in self.qos), None)

    def priority_of(self, job: Job) -> float:
        """Return the priority of a job's QOS; 0 without one."""
        name = self.qos_of(job)
        return 0.0 if name is None else self.qos[name].priority

    @property
    def limited(self) -> bool:
        """True if a QOS, an account or a user has limits."""
        limits = [one.limits for one in self.qos.values()]
        for account in self.accounts.values():
            limits += [account.limits, *account.user_limits.values()]
        return any(one != NO_LIMITS for one in limits)


NO_POLICIES = SitePolicies()
"""Site without QOS and accounts."""


class LimitsOfJobs:
    """Limits of each job, from the policies and the partitions of a site.

    Attributes
    ----------
    any
        False if there are none.
    counts_nodes
        Whether a limit is on the nodes of several jobs.
    any_running
        Whether a limit is on what running jobs may still take.
    """

    def __init__(self, policies: SitePolicies, partitions: Partitions = NO_PARTITIONS) -> None:
        self._site, self._partitions = policies, partitions
        qos = {str(name): one for name, one in policies.qos.items()}
        made = [
            Qos(name, one.limits.amounts, one.over_partition, one.limit_factor)
            for name, one in qos.items()
        ]
        timed = {name: one.limits.over_time for name, one in qos.items()}
        for one in partitions:
            name = f"partition {one.name}"
            made.append(Qos(name, one.limits.amounts, title=name))
            timed[name] = one.limits.over_time
        associations: list[Association] = []
        used: dict[AssociationKey, TimeLimits] = {}
        for name, account in policies.accounts.items():
            parent = account.parent or ""
            associations.append(Association("", name, "", "", parent, account.limits.amounts))
            used[associations[-1][:4]] = account.limits.over_time
            for user, limits in account.user_limits.items():
                own = Association("", name, str(user), "", "", limits.amounts)
                associations.append(own._replace(limits=self._inherited(own, name)))
                used[own[:4]] = limits.over_time
        self.any = policies.limited or any(one.limits != NO_LIMITS for one in partitions)
        scopes = [
            of for one in made for of in (one.limits.group, one.limits.user, one.limits.account)
        ]
        scopes += [of for one in associations for of in (one.limits.group, one.limits.user)]
        self.counts_nodes = any(NODES in names for names in scopes)
        self.any_running = any(one.running for one in (*timed.values(), *used.values()))
        self._policies = Policies(made, associations, usage=TimeUsage(0.0, timed, used), safe=True)

    def __deepcopy__(self, _memo: object) -> Self:
        # Equal jobs have equal limits, whoever asks: copies of a replay share what is known.
        return self

    def of(self, job: Job) -> JobRules:
        """Return the limits of a job."""
        return self._policies.of(self.holder(job, self._partitions.of(job)))

    def holder(self, job: Job, partition: Partition | None) -> Holder:
        """Return the names that decide which limits hold for a job of a partition."""
        name = self._site.qos_of(job)
        account = self._site.account_of(job)
        user = "" if job.user is None else str(job.user)
        own = Association("", account, user, "", "", LimitSet())
        if user and self._site.accounts:
            self._policies.add(own._replace(limits=self._inherited(own, account)))
        of_partition = ""
        if partition is not None:
            of_partition = str(partition.qos or f"partition {partition.name}")
        qos = "" if name is None else str(name)
        return Holder("", account, user, "", qos, of_partition)

    def _inherited(self, own: Association, account: str) -> LimitSet:
        """Return a user's limits with those that hold for each user of the accounts above."""
        found, name = own.limits, account
        while name in self._site.accounts:
            above = self._site.accounts[name].limits.amounts
            found = found._replace(
                own={**above.user, **found.own},
                job={**above.job, **found.job},
                node={**above.node, **found.node},
                least={**above.least, **found.least},
                job_minutes={**above.job_minutes, **found.job_minutes},
                wall=above.wall if found.wall is None else found.wall,
            )
            name = self._site.accounts[name].parent or ""
        return found
