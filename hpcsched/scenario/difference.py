"""Differences in meaning between two scenarios."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hpcsched.scenario.key_path import KeyPath, show_key_path
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.resolved import resolved_values

ABSENT = object()
"""Stands for a value that one of two scenarios does not have."""


@dataclass(frozen=True, slots=True)
class Change:
    """A key with different values in two scenarios."""

    key: str
    first: Any
    second: Any

    @property
    def cells(self) -> tuple[str, str, str]:
        """The key and its values in words."""
        return self.key, _show(self.first), _show(self.second)

    def __str__(self) -> str:
        return "{}: {} -> {}".format(*self.cells)

    def content(self) -> dict[str, Any]:
        """Return the key and its values for JSON; a scenario without the key has no value."""
        values = {"key": self.key, "first": self.first, "second": self.second}
        return {name: value for name, value in values.items() if value is not ABSENT}


def differences(first: Scenario, second: Scenario) -> list[Change]:
    """Return the differences of two scenarios, with defaults filled in and units as numbers.

    Node groups are matched by name. Their order counts, since nodes are numbered by it; the order
    of keys and the description do not.
    """
    return list(_compare(_meaning(first), _meaning(second), ()))


def _meaning(scenario: Scenario) -> dict[str, Any]:
    values = resolved_values(scenario)
    del values["description"]
    # By name and not by position: a group inserted in front would else differ in all that follow.
    groups = values["system"].pop("groups")
    values["system"]["groups"] = {
        group["name"]: {key: group[key] for key in group if key != "name"} for group in groups
    }
    return values


def _compare(first: Any, second: Any, path: KeyPath) -> Iterator[Change]:
    if isinstance(first, dict) and isinstance(second, dict):
        # Not a set: changes are listed in the order of the declarations, equal in every process.
        for key in dict.fromkeys((*first, *second)):
            yield from _compare(first.get(key, ABSENT), second.get(key, ABSENT), (*path, key))
        if path == ("system", "groups"):
            yield from _compare_order(list(first), list(second), path)
    # Lists of plain values, such as percentiles, mean something as a whole and are shown so.
    elif _has_blocks(first) and _has_blocks(second):
        for n in range(max(len(first), len(second))):
            ours, theirs = (items[n] if n < len(items) else ABSENT for items in (first, second))
            yield from _compare(ours, theirs, (*path, n))
    elif first != second:
        yield Change(show_key_path(path), first, second)


def _compare_order(first: list[str], second: list[str], path: KeyPath) -> Iterator[Change]:
    ours = [name for name in first if name in second]
    theirs = [name for name in second if name in first]
    if ours != theirs:
        yield Change(f"{show_key_path(path)} (order)", ours, theirs)


def _has_blocks(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _show(value: Any) -> str:
    if value is ABSENT:
        return "(absent)"
    if isinstance(value, dict):
        return "{" + _joined(f"{key}: {_show(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + _joined(_show(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)
