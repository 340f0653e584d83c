"""The account of a job, and what is in a tree of accounts."""

from typing import Any

from hpcsched.dispatching.rules.multifactor_accounts import AccountTree, Association, Branch, Leaf
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.system.request import Request
from hpcsched.workload.job import Job

ACCOUNTS = {
    "physics": {"shares": 3, "users": {"1": 1, "2": 1}, "groups": [7]},
    "theory": {"parent": "physics", "users": {"2": 5, "3": 1}, "groups": [8, 9]},
}


def tree(**given: Any) -> AccountTree:
    """Return a tree as a scenario declares it."""
    params = MultifactorParams.model_validate({"accounts": ACCOUNTS, **given})
    return AccountTree(params.accounts, params.other_account)


def charged(accounts: AccountTree, user: int | None, group: int | None) -> str:
    """Return the account of a job of a user and a group."""
    job = Job(1, 0, Request(1, (1,)), 60, user=user, group=group)
    found = accounts.association(job)
    assert found.user == user
    return found.account


def test_the_account_is_that_of_the_group_and_else_the_first_with_the_user() -> None:
    """User 2 is in two accounts; the groups 8 and 9 are charged to theory, whoever the user is."""
    accounts = tree()
    assert charged(accounts, 2, None) == "physics"
    assert charged(accounts, 2, 9) == "theory"
    assert charged(accounts, 2, 5) == "physics"
    assert charged(accounts, 3, None) == "theory"
    assert charged(accounts, 4, 8) == "theory"


def test_other_users_are_in_the_account_that_is_named_or_in_others() -> None:
    """So are jobs of unknown users."""
    assert charged(tree(), 4, None) == charged(tree(), None, None) == "others"
    assert charged(tree(other_account="theory"), 4, None) == "theory"


def test_a_tree_has_the_users_that_are_declared_charged_or_present() -> None:
    """A user that only ran or waits has one share; `others` is there once it has users."""
    theory = Branch(
        1,
        4,
        (
            Leaf(Association("theory", 2), 5, 4),
            Leaf(Association("theory", 3), 1, 0),
            Leaf(Association("theory", 9), 1, 0),
        ),
    )
    physics = Branch(
        3,
        6,
        (
            Leaf(Association("physics", 1), 1, 2),
            Leaf(Association("physics", 2), 1, 0),
            theory,
        ),
    )
    usage = {Association("theory", 2): 4.0, Association("physics", 1): 2.0}
    seen = [Association("theory", 9)]
    assert tree().with_usage(usage, seen) == Branch(1, 6, (physics,))
    others = Branch(1, 0, (Leaf(Association("others", None), 1, 0),))
    more = tree().with_usage(usage, [*seen, Association("others", None)])
    assert more == Branch(1, 6, (physics, others))


def test_a_declared_account_others_keeps_its_shares() -> None:
    """It is there without users too, as any declared account."""
    declared = {**ACCOUNTS, "others": {"shares": 2}}
    root = tree(accounts=declared).with_usage({}, ())
    assert root.children[1] == Branch(2, 0, ())
