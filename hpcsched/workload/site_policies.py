"""QOS and accounts of a site, and the limits that follow from them for each job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from hpcsched.system.limits import (
    NO_LIMITS,
    SiteLimits,
)
from hpcsched.workload.job import Job

PARENT: Final = "parent"
"""Shares of a user or an account that counts with those of its parent."""

Shares = float | Literal["parent"]
"""Shares in relation to those of the siblings, or `parent`."""

OTHERS = "others"
"""Account of users that no account names, where none is declared for them."""


@dataclass(frozen=True, slots=True)
class SiteQos:
    """A QOS: priority and limits of its jobs; `over_partition` is as in `Qos`."""

    priority: float = 0
    limits: SiteLimits = NO_LIMITS
    over_partition: bool = False


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
