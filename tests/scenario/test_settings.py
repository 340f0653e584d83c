"""Settings beside the file, applied to plain values."""

from typing import Any

import pytest

from hpcsched.errors import Place
from hpcsched.scenario.positions import Addition, Positions, Setting, apply_settings, settings_of

TAGS = {"easy": "name", "queue": "name", "nodes": "name"}


def applied(root: Any, *overrides: str | Setting) -> list[str]:
    """Apply overrides, and return the messages of those that fail."""
    settings, findings = settings_of(overrides)
    findings += apply_settings(root, settings, Positions("a.yaml"), TAGS)
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


def test_an_addition_is_made_once() -> None:
    """A plugin that the list has, as a name or with parameters, is not added."""
    root = {"monitors": [{"name": "queue", "every": 9}]}
    for name in ("queue", "nodes", "nodes"):
        assert applied(root, Addition(("monitors",), name, Place("--monitor"))) == []
    assert root == {"monitors": [{"name": "queue", "every": 9}, "nodes"]}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "--set seed: expected key.path=value"),
        ("groups.x=1", "groups is a list; expected a position such as [0], found 'x'"),
        ("groups[2].count=1", "groups has 1 items; there is no [2]"),
        ("seed.x=1", "seed is 1 and not a mapping, so 'x' cannot be set within it; set seed as a"),
    ],
)
def test_what_fails(override: str, message: str) -> None:
    """The place is the override itself, and nothing is written."""
    root = {"seed": 1, "groups": [{"count": 4}]}
    (said,) = applied(root, override)
    assert said.startswith(f"--set {override}: ")
    assert message in said
    assert root == {"seed": 1, "groups": [{"count": 4}]}


def test_one_value_for_many() -> None:
    """What is written is a copy: another scenario's part of it does not change."""
    value = {"depth": 1}
    setting = Setting(("dispatcher",), value, Place("axis"))
    root: dict[str, Any] = {}
    assert applied(root, setting, "dispatcher.depth=2") == []
    assert (root, value) == ({"dispatcher": {"depth": 2}}, {"depth": 1})
