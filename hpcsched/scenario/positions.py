"""Places of the keys and values of a scenario: in its file, or in a `--set`."""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario.document import Document, Mark, parse_document
from hpcsched.scenario.faults import found
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value for a key path of a scenario, from outside its file."""

    path: KeyPath
    value: Any
    source: Place

    def place(self, within: KeyPath, *, on_key: bool) -> Place:
        """Return the place of a key path within the value, or of its key.

        A setting without lines of its own has one place for all.
        """
        return self.source


class Addition(Setting):
    """The name of a plugin for a list of the scenario, unless the list has it."""


@dataclass(slots=True)
class Positions:
    """Places of keys and values, by key path."""

    file: str
    keys: dict[KeyPath, Mark] = field(default_factory=dict)
    values: dict[KeyPath, Mark] = field(default_factory=dict)
    settings: dict[KeyPath, Setting] = field(default_factory=dict)
    included: dict[KeyPath, str] = field(default_factory=dict)

    @classmethod
    def of(cls, file: str, document: Document) -> "Positions":
        """Return the positions in a file that has just been read."""
        return cls(file, dict(document.keys), dict(document.values))

    def override(self, path: KeyPath, setting: Setting) -> None:
        """Note that the value at `path`, and all below it, comes from a setting."""
        self.keys = _outside(self.keys, path)
        self.values = _outside(self.values, path)
        self.settings = _outside(self.settings, path)
        self.included = _outside(self.included, path)
        self.settings[path] = setting

    def include(self, path: KeyPath, file: str, document: Document) -> None:
        """Note that the keys of the mapping at `path` come from another file, too."""
        for key, mark in document.keys.items():
            self.keys[(*path, *key)] = mark
        for key, mark in document.values.items():
            if key:
                self.values[(*path, *key)] = mark
        for key in document.value:
            self.included[(*path, key)] = file

    def place(self, path: KeyPath, *, on_key: bool = False) -> Place:
        """Return the place of a value, or of its key; of the nearest one above if it is absent."""
        # The longest path first: the nearest place tells most.
        for length in range(len(path), -1, -1):
            above = path[:length]
            if above in self.settings:
                return self.settings[above].place(path[length:], on_key=on_key)
            mark = self.values.get(above)
            # Above the path itself the nearest value is pointed at: the key there is not the faulty
            # one.
            if on_key and length == len(path):
                mark = self.keys.get(above, mark)
            if mark is not None:
                return Place(self._file_of(above), mark.line, mark.column)
        return Place(self.file)

    def _file_of(self, path: KeyPath) -> str:
        for length in range(len(path), 0, -1):
            if path[:length] in self.included:
                return self.included[path[:length]]
        return self.file


def override_place(text: str) -> Place:
    """Return the place of a fault in an override: the override itself, on one line."""
    return Place(f"--set {' '.join(text.splitlines())}")


def by_position(findings: Iterable[Finding], file: str) -> list[Finding]:
    """Return findings in the order of their places: those in the file first."""

    def position(finding: Finding) -> tuple[bool, int, int]:
        place = finding.place or Place(file)
        # Python's sort is stable, so findings of equal places, such as overrides, keep their order.
        return (place.file != file, place.line or 0, place.column or 0)

    return sorted(findings, key=position)


def _outside(places: dict[KeyPath, _T], path: KeyPath) -> dict[KeyPath, _T]:
    return {key: place for key, place in places.items() if key[: len(path)] != path}


Override = str | Setting
"""A text such as `dispatcher.depth=100`, or the setting that it stands for."""


def settings_of(overrides: Iterable[Override]) -> tuple[list[Setting], list[Finding]]:
    """Return overrides as settings, in order, and a finding for each text that is none."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    for override in overrides:
        if isinstance(override, Setting):
            settings.append(override)
            continue
        try:
            settings.append(_parse(override))
        except ValueError as error:
            findings.append(Finding("bad-override", str(error), override_place(override)))
        except InputError as error:
            findings.extend(error.findings)
    return settings, findings


def apply_settings(
    root: Any, settings: Iterable[Setting], positions: Positions, tags: Mapping[str, str]
) -> Iterator[Finding]:
    """Write each setting into the document, in order; yield a finding for each that fails.

    Parameters
    ----------
    tags
        Keys that name a plugin where it has parameters: a bare name becomes such a mapping when a
        parameter of it is set.
    """
    for setting in settings:
        if isinstance(setting, Addition):
            _add(root, setting, positions, tags)
            continue
        try:
            _put(root, setting, positions, tags)
        except ValueError as error:
            yield Finding("bad-override", str(error), setting.source)


def _parse(text: str) -> Setting:
    # At the first `=` only: a value may have one, as in `description=a=b`.
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("expected key.path=value")
    path = parse_key_path(key.strip())
    document = parse_document(value)
    place = override_place(text)
    if document.problems:
        raise InputError(
            Finding(problem.rule, problem.message, place, show_key_path(path + problem.key))
            for problem in document.problems
        )
    return Setting(path, document.value, place)


def _put(root: Any, setting: Setting, positions: Positions, tags: Mapping[str, str]) -> None:
    node = root
    done: KeyPath = ()
    for step, below in pairwise(setting.path):
        here = _step(node, step, done)
        done = (*done, here)
        if isinstance(node, dict) and here not in node:
            node[here] = {}
            positions.override(done, setting)
        # `dispatcher: easy` is short for `dispatcher: {name: easy}`; a parameter needs the long
        # form.
        if isinstance(below, str) and isinstance(node[here], str) and node[here] in tags:
            node[here] = {tags[node[here]]: node[here]}
        node = node[here]
    last = _step(node, setting.path[-1], done)
    # A copy: later settings may write into it, and an experiment gives one value to many cells.
    node[last] = deepcopy(setting.value)
    positions.override((*done, last), setting)


def _add(root: Any, addition: Addition, positions: Positions, tags: Mapping[str, str]) -> None:
    """Append a plugin's name to a list unless it is there, with or without parameters.

    A document without such a list is left as it is: its validation says what is wrong.
    """
    (key,) = addition.path
    if not isinstance(root, dict):
        return
    items = root.setdefault(key, [])
    if not isinstance(items, list):
        return
    name = addition.value
    if any(item == name or _named(item, tags.get(name)) == name for item in items):
        return
    items.append(name)
    positions.override((key, len(items) - 1), addition)


def _named(item: Any, tag: str | None) -> Any:
    return item.get(tag) if isinstance(item, dict) else None


def _step(node: Any, step: str | int, done: KeyPath) -> Any:
    """Return the key or list position of a step at a node; ValueError if it has none."""
    name = show_key_path(done) or "the scenario"
    if isinstance(node, dict):
        if isinstance(step, int):
            raise ValueError(f"{name} is a mapping; it has keys, not positions such as [{step}]")
        return step
    if isinstance(node, list):
        if not str(step).isdecimal():
            return _position_of(node, str(step), name)
        if int(step) >= len(node):
            raise ValueError(f"{name} has {len(node)} items; there is no [{step}]")
        return int(step)
    raise ValueError(
        f"{name} is {found(node)} and not a mapping, so {step!r} cannot be set within it;"
        f" set {name} as a whole"
    )


def _position_of(items: list[Any], step: str, where: str) -> int:
    """Return the position of the one item of a list that has a name, such as a node group."""
    names = [_named(item, "name") for item in items]
    if names.count(step) > 1:
        raise ValueError(f"{where} has {names.count(step)} items called {step!r}; use a position")
    if step not in names:
        known = ", ".join(dict.fromkeys(name for name in names if isinstance(name, str)))
        wanted = f"a position such as [0]{f', or one of the names {known}' if known else ''}"
        raise ValueError(f"{where} is a list; expected {wanted}, found {step!r}")
    return names.index(step)
