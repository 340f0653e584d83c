"""Settings beside the file, applied to plain values."""

from typing import Any

import pytest

from hpcsched.errors import Place
from hpcsched.scenario.document import Document, Setting, apply_settings, settings_of

TAGS = {"easy": "name"}


def applied(root: Any, *overrides: str | Setting) -> list[str]:
    """Apply overrides, and return the messages of those that fail."""
    settings, findings = settings_of(overrides)
    findings += apply_settings(Document(root, "a.yaml"), settings, TAGS)
    return [f"{finding.place}: {finding.message}" for finding in findings]


def test_values_are_written_in_order() -> None:
    """Into mappings and lists; blocks that are missing are made; a value may have `=`."""
    root: dict[str, Any] = {"seed": 1, "groups": [{"count": 4}]}
    assert applied(root, "seed=2", "groups[0].count=8", "a.b=x=y", "seed=[3, 4]", "seed[1]=5") == []
    assert root == {"seed": [3, 5], "groups": [{"count": 8}], "a": {"b": "x=y"}}


def test_a_bare_name_gets_parameters() -> None:
    """`dispatcher: easy` with a depth is a mapping of both."""
    root = {"dispatcher": "easy"}
    assert applied(root, "dispatcher.depth=9") == []
    assert root == {"dispatcher": {"name": "easy", "depth": 9}}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "--set seed: expected key.path=value"),
        ("groups.x=1", "groups is a list; expected a position such as [0], found 'x'"),
        ("groups[2].count=1", "groups has 1 items; there is no [2]"),
        ("named.x.count=1", "expected a position such as [0], or one of the names a, b, found 'x'"),
        ("named.b.count=1", "named has 2 items called 'b'; use a position"),
        ("seed.x=1", "seed is 1 and not a mapping, so 'x' cannot be set within it; set seed as a"),
    ],
)
def test_what_fails(override: str, message: str) -> None:
    """The place is the override itself, and nothing is written."""
    named = [{"name": "a"}, {"name": "b"}, {"name": "b"}]
    root = {"seed": 1, "groups": [{"count": 4}], "named": named}
    (said,) = applied(root, override)
    assert said.startswith(f"--set {override}: ")
    assert message in said
    assert root == {"seed": 1, "groups": [{"count": 4}], "named": named}
    assert named == [{"name": "a"}, {"name": "b"}, {"name": "b"}]


def test_an_item_by_its_name() -> None:
    """Groups and partitions are called by name, with a dot in it in quotes; a number is a place."""
    root = {"groups": [{"name": "cn", "count": 1}, {"name": "fat.1", "count": 1}]}
    assert applied(root, "groups.cn.count=2", 'groups."fat.1".count=3', "groups.0.gpus=4") == []
    assert root["groups"] == [{"name": "cn", "count": 2, "gpus": 4}, {"name": "fat.1", "count": 3}]


def test_one_value_for_many() -> None:
    """What is written is a copy: another scenario's part of it does not change."""
    value = {"depth": 1}
    setting = Setting(("dispatcher",), value, Place("axis"))
    root: dict[str, Any] = {}
    assert applied(root, setting, "dispatcher.depth=2") == []
    assert (root, value) == ({"dispatcher": {"depth": 2}}, {"depth": 1})
