"""The account of a job, and what is in a tree of accounts."""

from typing import Any

import pytest

from hpcsched.dispatching.problem import WaitingJob, waiting_job
from hpcsched.dispatching.rules.multifactor import Association
from hpcsched.system.system import Request
from hpcsched.workload.job import Job
from hpcsched.workload.site_policies import SitePolicies
from tests.builders import alike
from tests.dispatching.rules.multifactor_factors import order_of, policies_of, shares_of

ACCOUNTS = {
    "physics": {"shares": 3, "users": {"1": 1, "2": 1}, "groups": [7]},
    "theory": {"parent": "physics", "users": {"2": 5, "3": 1}, "groups": [8, 9]},
}


def policies(**given: Any) -> SitePolicies:
    """Return a tree as a scenario declares it."""
    return policies_of({"accounts": ACCOUNTS | given})


def charged(accounts: SitePolicies, user: int | None, group: int | None) -> str:
    """Return the account of a job of a user and a group."""
    job = Job(1, 0, Request(1, (1,)), 60, user=user, group=group)
    return accounts.account_of(job)


def test_the_account_is_that_of_the_group_and_else_the_first_with_the_user() -> None:
    """User 2 is in two accounts; the groups 8 and 9 are charged to theory, whoever the user is."""
    accounts = policies()
    assert charged(accounts, 2, None) == "physics"
    assert charged(accounts, 2, 9) == "theory"
    assert charged(accounts, 2, 5) == "physics"
    assert charged(accounts, 3, None) == "theory"
    assert charged(accounts, 4, 8) == "theory"


def test_other_users_are_in_the_account_that_is_named_or_in_others() -> None:
    """So are jobs of unknown users."""
    assert charged(policies(), 4, None) == charged(policies(), None, None) == "others"
    theory = {**ACCOUNTS["theory"], "other_users": True}
    assert charged(policies(theory=theory), 4, None) == "theory"


def waiting(*users: int | None) -> list[WaitingJob]:
    """Return a job of each user."""
    jobs = [Job(k, 0, Request(1, (1,)), 60, user=user) for k, user in enumerate(users)]
    return [waiting_job(job, 60, alike(1, core=1)) for job in jobs]


def shares_with(*users: int | None, **given: Any) -> dict[Association, float]:
    """Return the classic factors while jobs of some users wait."""
    accounts = {"a": {"users": {"1": 1, "2": 1}, "usage": {"1": 60, "2": 20}}, **given}
    params = {"accounts": accounts, "fair_share": "classic", "half_life": None}
    order = order_of(params, alike(1, core=1))
    return shares_of(order, 0, waiting(*users))


def test_users_that_wait_have_one_share_in_others() -> None:
    """`others` is in the tree once it has users: then user 1 has S = 1/2 × 1/2 instead of 1/2.

    User 1: u = 60/80, U = 3/4 + (1 - 3/4) × 1/2 = 7/8.
    """
    alone = shares_with()
    assert alone[Association("a", 1)] == pytest.approx(2 ** -(7 / 4))
    beside = shares_with(9)
    assert beside[Association("a", 1)] == pytest.approx(2 ** -(7 / 2))
    assert beside[Association("others", 9)] == 1.0
    assert shares_with(None)[Association("others", None)] == 1.0


def test_a_declared_account_others_keeps_its_shares() -> None:
    """It is there without users too, as any declared account: user 1 has S = 1/3 × 1/2."""
    found = shares_with(others={"shares": 2})
    assert found[Association("a", 1)] == pytest.approx(2 ** -(7 / 8 * 6))
