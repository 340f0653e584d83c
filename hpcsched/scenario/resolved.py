"""The resolved scenario: all defaults filled in, units as numbers, paths absolute."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from hpcsched.scenario.document import FastDumper, StrictDumper
from hpcsched.scenario.key_path import KeyPath, show_key_path
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.system import PartitionDeclaration, SystemDeclaration, build_partitions
from hpcsched.system.system import System
from hpcsched.whole_files import file_error
from hpcsched.workload.site_partitions import Partitions


def resolved_values(scenario: Scenario) -> dict[str, Any]:
    """Return every key of a scenario with its value, in the order in which keys are declared."""
    return scenario.model_dump(mode="json")


def resolved_yaml(scenario: Scenario) -> str:
    """Return a scenario as YAML that loads again to an equal scenario."""
    # Key by key: cells of an experiment share most values, so that each is written once.
    items = resolved_values(scenario).items()
    return "".join(_dumped_item(json.dumps({key: value})) for key, value in items)


@lru_cache(maxsize=1000)
def _dumped_item(content: str) -> str:
    return dumped(json.loads(content))


def with_value(text: str, key: str, value: Any) -> str:
    """Return a resolved scenario with another value of a top-level key, which takes one line."""
    line = dumped({key: value})
    return re.sub(rf"^{key}: .*\n", lambda _: line, text, count=1, flags=re.MULTILINE)


_DECIDES = {"dispatcher", "objective", "predictor", "correction"}
_WITHOUT = _DECIDES | {"name", "description", "seed", "metrics", "observers"}
"""Keys of a scenario that its jobs do not depend on, and the seed."""


def workload_key(scenario: Scenario) -> str:
    """Return a text that is equal for scenarios with the same jobs, as long as files stay.

    Jobs may depend on the seed as well.
    """
    return scenario.model_dump_json(exclude=_WITHOUT)


_SURE = 90
"""Length of a line, in characters, below which no writer folds one at 100."""


def dumped(values: Any) -> str:
    """Return plain values as YAML, in the bytes of `StrictDumper`."""
    text = _written(values, FastDumper)
    # What libyaml may write in another way: other characters, escapes, empty keys and folds.
    plain = text.isascii() and '"' not in text and "'':" not in text
    if plain and max(map(len, text.splitlines())) < _SURE:
        return text
    return _written(values, StrictDumper)


def _written(values: Any, dumper: Any) -> str:
    return yaml.dump(
        values,
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )


_BLOCK = re.compile(r"^\w.*\n(?:[ -].*\n)*", re.MULTILINE)
"""A top-level key of a resolved scenario, with the lines of its value."""


def read_resolved_values(path: Path) -> Mapping[str, Any]:
    """Return the plain values of a resolved scenario, without validation; do not change them.

    Reports read runs whose plugins need not be installed.

    Raises InputError if the file is damaged.
    """
    try:
        text = path.read_text(encoding="utf-8")
        blocks = _BLOCK.findall(text)
        # Cells of an experiment share most blocks. Other writers may not begin lines like that.
        parts = [_parsed(block) for block in blocks] if "".join(blocks) == text else [_load(text)]
    except (OSError, ValueError, yaml.YAMLError) as error:
        message = f"it is damaged: {' '.join(str(error).split())}"
        raise file_error("damaged-file", path, message) from error
    if not all(isinstance(part, dict) for part in parts):
        raise file_error("damaged-file", path, "it is damaged: it holds no mapping")
    return {key: value for part in parts for key, value in part.items()}


def _load(text: str) -> Any:
    # The C loader, where it is there, is far faster, which counts for experiments of many runs.
    # `StrictDumper` writes what YAML 1.1 and 1.2 read alike.
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


_parsed = lru_cache(maxsize=1000)(_load)


def read_system(path: Path) -> System:
    """Return the system of a resolved scenario; see `read_resolved_values`."""
    declared: SystemDeclaration = _part(path, "system", SystemDeclaration)
    return declared.build()


def read_partitions(path: Path) -> Partitions:
    """Return the partitions of a resolved scenario, maybe none; see `read_resolved_values`."""
    return build_partitions(
        _part(path, "partitions", tuple[PartitionDeclaration, ...] | None) or ()
    )


def _part(path: Path, key: str, kind: Any) -> Any:
    values = read_resolved_values(path)
    try:
        return TypeAdapter(kind).validate_python(values.get(key))
    except ValueError as error:
        message = f"it is damaged: the {key} cannot be read from it"
        raise file_error("damaged-file", path, message) from error


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

    Node groups and partitions are matched by name. Their order counts, since nodes are numbered by
    that of groups; the order of keys and the description do not.
    """
    return list(_compare(_meaning(first), _meaning(second), ()))


def _meaning(scenario: Scenario) -> dict[str, Any]:
    values = resolved_values(scenario)
    del values["description"]
    # By name and not by position: a group inserted in front would else differ in all that follow.
    values["system"]["groups"] = _by_name(values["system"].pop("groups"))
    if values.get("partitions"):
        values["partitions"] = _by_name(values["partitions"])
    return values


def _by_name(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["name"]: {key: one[key] for key in one if key != "name"} for one in items}


def _compare(first: Any, second: Any, path: KeyPath) -> Iterator[Change]:
    if isinstance(first, dict) and isinstance(second, dict):
        # Not a set: changes are listed in the order of the declarations, equal in every process.
        for key in dict.fromkeys((*first, *second)):
            yield from _compare(first.get(key, ABSENT), second.get(key, ABSENT), (*path, key))
        if path in (("system", "groups"), ("partitions",)):
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
    # A list of it: a document of a single value has a line with dots at its end.
    text = yaml.dump(
        [value], Dumper=StrictDumper, default_flow_style=True, width=float("inf"), sort_keys=False
    )
    return text.strip()[1:-1]
