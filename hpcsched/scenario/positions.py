"""Places of the keys and values of a scenario: in its file, or in a `--set`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hpcsched.errors import Finding, Place
from hpcsched.scenario.document import Document, Mark
from hpcsched.scenario.key_path import KeyPath

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
