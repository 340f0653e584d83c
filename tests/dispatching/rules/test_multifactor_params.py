"""Trees of accounts that are refused or warned about."""

from typing import Any

import pytest

from hpcsched.dispatching.rules.multifactor_params import MultifactorParams, review_accounts


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"fair_share": "fair-tree"}, "expected accounts for fair_share fair-tree"),
        ({"other_account": "a"}, "expected accounts beside other_account"),
        ({"accounts": {"a": {}}, "shares": {"1": 2}}, "expected shares or accounts, found both"),
        ({"accounts": {"a": {}}, "other_account": "b"}, "other_account 'b' is not one of"),
        ({"accounts": {"a": {"parent": "b"}}}, "parent 'b' of account 'a' is not one of accounts"),
        ({"accounts": {"a": {"parent": "a"}}}, "account 'a' is below itself: a "),
        (
            {"accounts": {"a": {"parent": "b"}, "b": {"parent": "c"}, "c": {"parent": "b"}}},
            "account 'b' is below itself: a < b < c",
        ),
        (
            {"accounts": {"a": {"groups": [1]}, "b": {"groups": [2, 1]}}},
            "group 1 is in two accounts: a, b",
        ),
        ({"accounts": {"a": {"shares": -1}}}, "greater than or equal to 0"),
        ({"accounts": {"a": {"users": {"1": -1}}}}, "greater than or equal to 0"),
        ({"accounts": {"a": {"users": {"anna": 1}}}}, "valid integer"),
        ({"accounts": {"a": {"users": {"1": "parents"}}}}, "'parent'"),
        (
            {"accounts": {"a": {"users": {"1": 1}, "usage": {"2": 5}}}},
            "account 'a' has usage of 2, not one of its users",
        ),
    ],
)
def test_trees_that_make_no_sense_are_refused(bad: dict[str, Any], message: str) -> None:
    """The message names the account."""
    with pytest.raises(ValueError, match=message):
        MultifactorParams.model_validate(bad)


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({}, []),
        ({"accounts": {"a": {}}}, ["implicit-account"]),
        ({"accounts": {"a": {}}, "other_account": "a"}, []),
        ({"accounts": {"others": {}}}, []),
    ],
)
def test_a_tree_without_an_account_for_other_users_is_warned_about(
    given: dict[str, Any], rules: list[str]
) -> None:
    """They are in an account that nobody wrote down."""
    found = list(review_accounts(MultifactorParams.model_validate(given), None))
    assert [(caution.rule, caution.severity) for caution in found] == [
        (rule, "warning") for rule in rules
    ]
