"""Tree of accounts and users of the queue order `multifactor`, with usage summed upwards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from hpcsched.dispatching.rules.multifactor_params import (
    OTHERS,
    PARENT,
    AccountDeclaration,
    Shares,
)
from hpcsched.dispatching.rules.multifactor_usage import User
from hpcsched.workload.job import Job


class Association(NamedTuple):
    """A user in an account.

    Attributes
    ----------
    user
        Number of the user; None stands for all users of unknown number together.
    """

    account: str
    user: User


class Leaf(NamedTuple):
    """A user in a tree with usage.

    Attributes
    ----------
    shares
        Shares, in relation to those of the siblings; None: the user counts with those of the
        account.
    """

    association: Association
    shares: float | None
    usage: float


class Branch(NamedTuple):
    """An account in a tree with usage.

    Attributes
    ----------
    shares
        Shares, in relation to those of the siblings.
    """

    shares: float
    usage: float
    children: "Sequence[Branch | Leaf]"

    @property
    def level_shares(self) -> float:
        """Sum of the shares of its children, without those that count with its own."""
        return fsum(child.shares for child in self.children if child.shares is not None)


class AccountTree:
    """Tree of accounts, with the users in each.

    Parameters
    ----------
    accounts
        Declarations by name; parents exist and there is no cycle.
    other_account
        Account of users that no account names; None: `OTHERS`, which is added below the
        root if it is not declared.
    """

    def __init__(
        self, accounts: Mapping[str, AccountDeclaration], other_account: str | None
    ) -> None:
        self._accounts = dict(accounts)
        self._other_account = OTHERS if other_account is None else other_account
        self._added = self._other_account not in accounts
        if self._added:
            self._accounts[self._other_account] = AccountDeclaration()
        self._below: dict[str | None, list[str]] = {}
        self._account_of_group: dict[int, str] = {}
        self._account_of_user: dict[int, str] = {}
        for name, account in self._accounts.items():
            self._below.setdefault(account.parent, []).append(name)
            for group in account.groups:
                self._account_of_group[group] = name
            for user in account.users:
                # The first account that names a user is the user's default account.
                self._account_of_user.setdefault(user, name)

    def association(self, job: Job) -> Association:
        """Return the user and the account to which a job's usage is charged.

        The account is that of the job's group, else the first that names the user, else that of
        other users.
        """
        account = None if job.group is None else self._account_of_group.get(job.group)
        if account is None and job.user is not None:
            account = self._account_of_user.get(job.user)
        return Association(self._other_account if account is None else account, job.user)

    def with_usage(
        self, usage: Mapping[Association, float], present: Iterable[Association]
    ) -> Branch:
        """Return the root of the tree with usage.

        Parameters
        ----------
        usage
            Usage by association; others have none.
        present
            Associations that are in the tree even if they are not declared. They have one share.

        Returns
        -------
        Branch
            The root. It contains the declared associations, and those of `usage` and `present`.
            Children of an account with `parent` as its shares are children of its parent.
        """
        users: dict[str, dict[User, Shares]] = {name: {} for name in self._accounts}
        for name, account in self._accounts.items():
            users[name].update(account.users.items())
        for association in (*usage, *present):
            users[association.account].setdefault(association.user, 1.0)
        if self._added and not users[self._other_account]:
            del users[self._other_account]

        def children(name: str | None) -> Iterator[Branch | Leaf]:
            if name is not None:
                for user, shares in users[name].items():
                    association = Association(name, user)
                    own = None if shares == PARENT else shares
                    yield Leaf(association, own, usage.get(association, 0.0))
            for below in self._below.get(name, ()):
                if below not in users:
                    continue
                shares = self._accounts[below].shares
                if shares == PARENT:
                    yield from children(below)
                else:
                    yield _branch(shares, children(below))

        return _branch(1.0, children(None))


def _branch(shares: float, children: Iterable[Branch | Leaf]) -> Branch:
    below = tuple(children)
    return Branch(shares, fsum(child.usage for child in below), below)
