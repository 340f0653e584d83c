"""Accounts, QOS and limits that are refused or warned about, and what is built from them."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from hpcsched.scenario.policy_declarations import DeclaredAccounts


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            {"accounts": {"a": {"other_users": True}, "b": {"other_users": True}}},
            "expected other_users in one account, found it in a, b",
        ),
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
            "expected usage of its users, found that of 2",
        ),
    ],
)
def test_trees_that_make_no_sense_are_refused(bad: dict[str, Any], message: str) -> None:
    """The message names the account."""
    with pytest.raises(ValueError, match=message):
        TypeAdapter(DeclaredAccounts).validate_python(bad["accounts"])
