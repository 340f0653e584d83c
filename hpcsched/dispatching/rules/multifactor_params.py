"""Parameters of the queue order `multifactor`."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from hpcsched.parameters import Listed, Params, PositiveDuration
from hpcsched.registration import Caution

Number = Annotated[int, Field(strict=False)]
"""Number of a user or queue as a key; keys of a scenario are texts."""

Queue = Annotated[Annotated[int, Field(strict=False)] | str, Field(union_mode="left_to_right")]
"""Number of a queue, or else its name."""

NotNegative = Annotated[float, Field(ge=0, le=10**15)]

PARENT: Final = "parent"
"""Shares of a user or an account that counts with those of its parent."""

Shares = NotNegative | Literal["parent"]
"""Shares in relation to those of the siblings, or `parent`."""

_WEEK = 7 * 86_400
"""Slurm's default for both times, in seconds."""


class Weights(Params):
    """Weights of the factors; each factor is between 0 and 1.

    The defaults are those of the example in Slurm's documentation; there, `qos` is 0.
    """

    age: NotNegative = Field(1000, description="Weight of the wait time.")
    size: NotNegative = Field(1000, description="Weight of the requested share of the system.")
    fair_share: NotNegative = Field(
        10000, description="Weight of low usage in relation to the user's share."
    )
    partition: NotNegative = Field(1000, description="Weight of the partition's priority.")
    qos: NotNegative = Field(1000, description="Weight of the queue's priority under `qos`.")


class AccountDeclaration(Params):
    """An account: its place in the tree, its shares, and its users."""

    parent: str | None = Field(
        None, description="Account that it is part of; the root of the tree if not given."
    )
    shares: Shares = Field(
        1,
        description="Shares in relation to those of the users and accounts of the same parent;"
        " `parent`: its users and accounts count as those of its parent.",
    )
    users: Mapping[Number, Shares] = Field(
        default_factory=dict,
        description="Shares of its users by user number, in relation to those of its other users"
        " and accounts; `parent`: those of the account. A user may be in several accounts.",
    )
    usage: Mapping[Number, NotNegative] = Field(
        default_factory=dict,
        description="Usage of its users before the first job by user number, in seconds times units"
        " of `core`, or of the system's first resource type if it has no `core`.",
    )
    groups: Annotated[tuple[int, ...], Listed] = Field(
        default=(),
        description="Group numbers of the trace that are charged to this account. Jobs of other"
        " groups are charged to the first account with their user.",
    )


OTHERS = "others"
"""Account of users that no account names, where the scenario does not say which."""

FairShare = Literal["classic", "fair-tree"]
"""Name of a fair-share algorithm."""


class MultifactorParams(Params):
    """Parameters of the queue order `multifactor`."""

    weights: Weights = Field(Weights(), description="Weights of the factors.")
    max_age: PositiveDuration = Field(
        _WEEK,
        description="Wait at which the age factor reaches 1, in seconds or with a unit.",
    )
    favor_small: bool = Field(
        False, description="Whether the size factor favours small jobs instead of large ones."
    )
    half_life: PositiveDuration | None = Field(
        _WEEK,
        description="Half-life of usage, in seconds or with a unit; null: no decay.",
    )
    shares: Mapping[Number, NotNegative] = Field(
        default_factory=dict,
        description="Share of the system by user number, in relation to the others'; 1 for users"
        " not named. Only without `accounts`.",
    )
    fair_share: FairShare | None = Field(
        None,
        description="Fair-share algorithm; if not given, `fair-tree` with `accounts` and `classic`"
        " without.",
    )
    accounts: Mapping[str, AccountDeclaration] = Field(
        default_factory=dict,
        description="Tree of accounts by name, each with its `parent`, `shares`, `users` (shares by"
        " user number) and `groups`; without it users have no accounts.",
    )
    other_account: str | None = Field(
        None,
        description="Account of users that no account names, with 1 share each; if not given,"
        " `others`, which has 1 share below the root unless it is declared.",
    )
    qos: Mapping[Queue, NotNegative] = Field(
        default_factory=dict,
        description="Priority by queue number, or by name where the trace has names, in relation"
        " to the largest; 0 for queues not named.",
    )

    @model_validator(mode="after")
    def _check_tree(self) -> Self:
        if not self.accounts:
            if self.fair_share == "fair-tree":
                raise ValueError("expected accounts for fair_share fair-tree, found none")
            if self.other_account is not None:
                raise ValueError("expected accounts beside other_account, found none")
            return self
        if self.shares:
            raise ValueError(
                "expected shares or accounts, found both; give the shares of users under accounts"
            )
        if self.other_account is not None and self.other_account not in self.accounts:
            raise ValueError(f"other_account {self.other_account!r} is not one of accounts")
        claimed: dict[int, str] = {}
        for name, account in self.accounts.items():
            self._check_parents(name)
            unknown = sorted(account.usage.keys() - account.users.keys())
            if unknown:
                raise ValueError(
                    f"account {name!r} has usage of {unknown[0]}, not one of its users"
                )
            for group in account.groups:
                if claimed.setdefault(group, name) != name:
                    raise ValueError(f"group {group} is in two accounts: {claimed[group]}, {name}")
        return self

    def _check_parents(self, name: str) -> None:
        path = [name]
        while (parent := self.accounts[path[-1]].parent) is not None:
            if parent not in self.accounts:
                raise ValueError(
                    f"parent {parent!r} of account {path[-1]!r} is not one of accounts"
                )
            if parent in path:
                raise ValueError(f"account {parent!r} is below itself: {' < '.join(path)}")
            path.append(parent)


def review_accounts(params: MultifactorParams, _system: object) -> Iterator[Caution]:
    """Report that users without an account are in one that the scenario does not declare."""
    if params.accounts and params.other_account is None and OTHERS not in params.accounts:
        message = (
            "users that no account names have 1 share each in an account 'others' with 1 share;"
            " name their account as other_account, or declare 'others'"
        )
        yield Caution("implicit-account", message, "accounts")
