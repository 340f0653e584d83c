"""Fair-share factors of a tree of accounts, worked by hand, and the laws of Fair Tree."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.rules.multifactor import Association
from hpcsched.dispatching.rules.multifactor_params import FairShare
from tests.builders import alike
from tests.dispatching.rules.multifactor_factors import order_of, shares_of
from tests.strategies import tries

# Five users in three accounts; usage is 120 in all. S is the share of the siblings' shares, U that
# of the parent's usage, LF = S / U.
#
#                  shares   usage   S     U        LF
#   physics        2        60      2/4   60/120   1
#     user 1       1        45      1/2   45/60    2/3
#     user 2       1        15      1/2   15/60    2
#   chemistry      1        30      1/4   30/120   1      ties with physics: merged with it
#     user 3       3        30      3/4   30/30    3/4
#     user 4       1         0      1/4    0/30    infinite
#   biology        1        30      1/4   30/120   1      ties too
#     user 5       1        30      1     30/30    1
#
# Merged, the users by LF are 4 (infinite), 2 (2), 5 (1), 3 (3/4), 1 (2/3).
ACCOUNTS = {
    "physics": {"shares": 2, "users": {"1": 1, "2": 1}},
    "chemistry": {"users": {"3": 3, "4": 1}},
    "biology": {"users": {"5": 1}},
}
USED = {1: 45.0, 2: 15.0, 3: 30.0, 5: 30.0}


def fair_shares(
    accounts: dict[str, Any], used: dict[tuple[str, int], float], algorithm: FairShare
) -> dict[Association, float]:
    """Return the factor of each declared user after some usage, in core-seconds."""
    declared = {
        name: {
            **account,
            "usage": {str(user): amount for (of, user), amount in used.items() if of == name},
        }
        for name, account in accounts.items()
    }
    params = {"accounts": declared, "half_life": None, "fair_share": algorithm}
    return shares_of(order_of(params, alike(1, core=1)), 0)


def by_user(
    accounts: dict[str, Any], used: dict[int, float], algorithm: FairShare
) -> dict[int | None, float]:
    """Return factors by the number of the user; each user is in one account."""
    account_of = {int(user): name for name, a in accounts.items() for user in a.get("users", ())}
    usage = {(account_of[user], user): amount for user, amount in used.items()}
    return {one.user: factor for one, factor in fair_shares(accounts, usage, algorithm).items()}


def fair_tree(accounts: dict[str, Any], used: dict[int, float]) -> dict[int | None, float]:
    """Return factors by Fair Tree."""
    return by_user(accounts, used, "fair-tree")


def classic(accounts: dict[str, Any], used: dict[int, float]) -> dict[int | None, float]:
    """Return factors by the classic formula."""
    return by_user(accounts, used, "classic")


def test_tied_accounts_are_merged() -> None:
    """The users of three tied accounts are ranked together, by the level fair share in each."""
    factors = fair_tree(ACCOUNTS, USED)
    assert factors == {4: 5 / 5, 2: 4 / 5, 5: 3 / 5, 3: 2 / 5, 1: 1 / 5}


def test_an_account_with_less_usage_comes_first_as_a_whole() -> None:
    """With 10 more of usage by user 5, biology has LF = (1/4) / (40/130) = 13/16 < 13/12."""
    factors = fair_tree(ACCOUNTS, USED | {5: 40.0})
    # Physics and chemistry still tie at 13/12: (2/4) / (60/130) and (1/4) / (30/130).
    assert factors == {4: 1.0, 2: 0.8, 3: 0.6, 1: 0.4, 5: 0.2}


def test_users_without_usage_tie_at_the_best_rank() -> None:
    """Nobody has used anything: all level fair shares are infinite, all factors 1."""
    assert set(fair_tree(ACCOUNTS, {}).values()) == {1.0}


def test_tied_siblings_share_the_better_rank_and_the_next_user_keeps_its_place() -> None:
    """Users 1 and 2 have used as much for as many shares; user 3 is third of four, not second."""
    one = {"a": {"users": {"1": 1, "2": 1, "3": 1, "4": 0}}}
    factors = fair_tree(one, {1: 10.0, 2: 10.0, 3: 20.0})
    # A user without shares has a level fair share of 0, without usage too.
    assert factors == {1: 1.0, 2: 1.0, 3: 0.5, 4: 0.25}


def test_a_user_that_ties_with_an_account_has_the_rank_of_its_best_user() -> None:
    """User 1 and the account below `top` have each used 10 for 1 share."""
    accounts = {
        "top": {"users": {"1": 1, "4": 1}},
        "below": {"parent": "top", "users": {"2": 1, "3": 1}},
    }
    factors = fair_tree(accounts, {1: 10.0, 2: 2.0, 3: 8.0, 4: 30.0})
    assert factors == {1: 1.0, 2: 1.0, 3: 0.5, 4: 0.25}


def test_usage_is_summed_upwards() -> None:
    """The level fair share of an account counts the usage of the accounts below it."""
    accounts = {
        "a": {},
        "deep": {"parent": "a", "users": {"1": 1}},
        "b": {"users": {"2": 1}},
    }
    assert fair_tree(accounts, {1: 30.0, 2: 10.0}) == {2: 1.0, 1: 0.5}


def test_the_classic_formula_blends_usage_with_that_of_the_account() -> None:
    """Users 1 and 2 of physics, which has 2 of 4 shares and has used 60 of 120.

    User 1: u = 45/120 = 3/8, U = 3/8 + (1/2 - 3/8) × 1/2 = 7/16, S = 2/4 × 1/2 = 1/4.
    User 2: u = 15/120 = 1/8, U = 1/8 + (1/2 - 1/8) × 1/2 = 5/16, S = 1/4.
    User 5: alone in biology, so that U = u = 1/4, and S = 1/4.
    """
    factors = classic(ACCOUNTS, USED)
    assert factors[1] == pytest.approx(2 ** -(7 / 4))
    assert factors[2] == pytest.approx(2 ** -(5 / 4))
    assert factors[5] == pytest.approx(2**-1)


def test_the_classic_formula_without_usage_or_shares() -> None:
    """1 for users with shares in an account with shares, else 0."""
    accounts = {"a": {"users": {"1": 1, "2": 0}}, "b": {"shares": 0, "users": {"3": 1}}}
    assert classic(accounts, {}) == {1: 1.0, 2: 0.0, 3: 0.0}


# `sshare` and `sprio` of Slurm 22.05.8 (slurmctld with slurmdbd) after six jobs had run for 117.8 s
# on 3, 1, 5, 1, 2 and 4 cores: RawUsage and FairShare of users 1 to 7, and of root (0).
# `sprio` printed the same factors for twenty waiting jobs. Slurm's `root` is a child of the root of
# the tree; here it is alone in an account.
SLURM_ACCOUNTS = {
    "root": {"users": {"0": 1}},
    "physics": {"shares": 2, "users": {"1": 1, "2": 1}},
    "chemistry": {"users": {"3": 3, "4": 1}},
    "biology": {"users": {"5": 1}},
    "theory": {"parent": "physics", "users": {"6": 2, "7": 1}},
}
SLURM_USED = {1: 353.0, 2: 117.0, 3: 589.0, 4: 117.0, 5: 235.0, 6: 471.0}
SLURM_FAIR_SHARE = {
    0: 1.0, 5: 0.875, 2: 0.75, 1: 0.625, 7: 0.5, 6: 0.375, 4: 0.25, 3: 0.125,
}  # fmt: skip


def test_the_factors_are_those_that_slurm_printed() -> None:
    """The ranks of Fair Tree agree exactly."""
    assert fair_tree(SLURM_ACCOUNTS, SLURM_USED) == SLURM_FAIR_SHARE


# Fair share of the parent, worked by hand. `lent` counts as its parent: its users are children of
# the root, where the shares are 1 + 1. Usage is 100 in all.
#
#                   shares   usage   S     U       LF
#   top             1        60      1/2   60/100  5/6
#     user 1        parent   30                    infinite, before its siblings
#     user 2        1        20      1/4   20/60   3/4
#     user 3        3        10      3/4   10/60   9/2
#   lent            parent   40
#     user 4        1        40      1/2   40/100  5/4
#     user 5        parent   0                     infinite
#
# Fair Tree visits the users 5 (infinite), 4 (5/4), then those of `top` (5/6): 1, 3, 2.
OF_PARENT = {
    "top": {"users": {"1": "parent", "2": 1, "3": 3}},
    "lent": {"shares": "parent", "users": {"4": 1, "5": "parent"}},
}
OF_PARENT_USED = {1: 30.0, 2: 20.0, 3: 10.0, 4: 40.0}


def test_users_with_the_shares_of_their_parent_are_first_in_it() -> None:
    """Children of an account that counts as its parent are ranked among those of the parent."""
    factors = fair_tree(OF_PARENT, OF_PARENT_USED)
    assert factors == {5: 5 / 5, 4: 4 / 5, 1: 3 / 5, 3: 2 / 5, 2: 1 / 5}


def test_the_classic_formula_gives_them_the_factor_of_the_parent() -> None:
    """User 1 has that of `top`: U = 60/100, S = 1/2. User 5 has that of the root: U = S = 1.

    User 3: u = 10/100, U = 1/10 + (6/10 - 1/10) × 3/4 = 19/40, S = 1/2 × 3/4 = 3/8.
    User 4 is a child of the root: U = u = 40/100, S = 1/2.
    """
    factors = classic(OF_PARENT, OF_PARENT_USED)
    assert factors[1] == pytest.approx(2 ** -(6 / 5))
    assert factors[3] == pytest.approx(2 ** -(19 / 15))
    assert factors[4] == pytest.approx(2 ** -(4 / 5))
    assert factors[5] == 0.5
    assert classic(OF_PARENT, {})[5] == 1.0


# `sshare -alP` and `sprio` of Slurm 22.05.8 for the same tree under both algorithms, after ten jobs
# had run on 1 to 5 cores. Names became numbers: daemon 1, bin 2, sys 3, games 5, man 6, lp 7, mail
# 8, news 9, uucp 10, proxy 13, backup 34, root 0. User 2 is in two accounts.
SLURM_PARENT_ACCOUNTS = {
    "root": {"shares": "parent", "users": {"0": 1}},
    "biology": {"users": {"7": "parent", "8": 2, "6": "parent"}},
    "chemistry": {"users": {"5": 1, "3": 3}},
    "physics": {"shares": 2, "users": {"2": 1, "1": 1}},
    "theory": {"parent": "physics", "shares": 3, "users": {"2": 1, "9": 2, "10": 1}},
    "pool": {"shares": "parent", "users": {"34": "parent", "13": 1}},
}
SLURM_PARENT_USED = {
    ("biology", 7): 10.0, ("biology", 8): 10.0, ("biology", 6): 21.0, ("chemistry", 5): 10.0,
    ("chemistry", 3): 54.0, ("physics", 2): 10.0, ("physics", 1): 32.0, ("theory", 2): 10.0,
    ("theory", 9): 43.0, ("pool", 13): 21.0,
}  # fmt: skip
SLURM_PARENT_FAIR_TREE = {
    ("root", 0): 1.0, ("biology", 7): 0.769231, ("biology", 8): 0.615385,
    ("biology", 6): 0.769231, ("chemistry", 5): 0.153846, ("chemistry", 3): 0.076923,
    ("physics", 2): 0.538462, ("physics", 1): 0.230769, ("theory", 2): 0.384615,
    ("theory", 9): 0.307692, ("theory", 10): 0.461538, ("pool", 34): 1.0, ("pool", 13): 0.846154,
}  # fmt: skip
SLURM_PARENT_CLASSIC = {
    ("root", 0): 1.0, ("biology", 7): 0.452862, ("biology", 8): 0.452862,
    ("biology", 6): 0.452862, ("chemistry", 5): 0.168238, ("chemistry", 3): 0.219079,
    ("physics", 2): 0.276022, ("physics", 1): 0.125, ("theory", 2): 0.179718,
    ("theory", 9): 0.152377, ("theory", 10): 0.294859, ("pool", 34): 0.5, ("pool", 13): 0.672950,
}  # fmt: skip


def test_the_factors_with_shares_of_the_parent_are_those_that_slurm_printed() -> None:
    """Ranks agree exactly; the classic factors up to the whole seconds of the printed usage."""
    ranks = fair_shares(SLURM_PARENT_ACCOUNTS, SLURM_PARENT_USED, "fair-tree")
    assert {tuple(one): round(factor, 6) for one, factor in ranks.items()} == SLURM_PARENT_FAIR_TREE
    factors = fair_shares(SLURM_PARENT_ACCOUNTS, SLURM_PARENT_USED, "classic")
    assert {tuple(one): factor for one, factor in factors.items()} == pytest.approx(
        SLURM_PARENT_CLASSIC, rel=0.03
    )


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, Any], dict[int, float]]:
    """Return declarations of up to five accounts with one to three users each, and usage."""
    count = draw(st.integers(1, 5))
    accounts: dict[str, Any] = {}
    used: dict[int, float] = {}
    for k in range(count):
        above = draw(st.none() | st.integers(0, k - 1)) if k else None
        users = {}
        for i in range(draw(st.integers(1, 3))):
            user = 10 * k + i
            users[str(user)] = draw(st.integers(0, 4))
            used[user] = float(draw(st.integers(0, 6)))
        accounts[f"a{k}"] = {
            "parent": None if above is None else f"a{above}",
            "shares": draw(st.integers(0, 4)),
            "users": users,
        }
    return accounts, used


@tries(150)
@given(trees())
def test_a_rank_counts_the_users_that_are_not_better(
    tree: tuple[dict[str, Any], dict[int, float]],
) -> None:
    """A factor is (n - users with a larger factor) / n, so that ranks without ties are 1 to n."""
    factors = fair_tree(*tree)
    found = list(factors.values())
    assert len(found) == len(tree[1])
    count = len(found)
    assert found == [(count - sum(better > own for better in found)) / count for own in found]


@tries(150)
@given(trees(), st.integers(0, 10**9))
def test_ranks_without_ties_are_a_permutation(
    tree: tuple[dict[str, Any], dict[int, float]], seed: int
) -> None:
    """With random shares and usage no two users tie: the ranks are 1 to n."""
    accounts, used = tree
    # Drawn outside Hypothesis, which would shrink the numbers to equal ones.
    random = Random(seed)
    for account in accounts.values():
        account["shares"] = random.uniform(1, 2)
        account["users"] = {user: random.uniform(1, 2) for user in account["users"]}
    factors = fair_tree(accounts, {user: random.uniform(1, 2) for user in used})
    count = len(factors)
    assert sorted(factors.values()) == [rank / count for rank in range(1, count + 1)]


@tries(200)
@given(trees(), st.integers(0, 100), st.integers(1, 10))
def test_more_usage_never_raises_a_factor(
    tree: tuple[dict[str, Any], dict[int, float]], which: int, more: int
) -> None:
    """Of two states that differ in one user's usage, that user has the smaller factor with more."""
    accounts, used = tree
    user = sorted(used)[which % len(used)]
    before = fair_tree(accounts, used)
    after = fair_tree(accounts, used | {user: used[user] + more})
    assert after[user] <= before[user]
