"""Matrix of a file that varies a scenario: axes with labels, their positions, and their checks."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from pydantic_core import InitErrorDetails

from hpcsched.scenario.faults import found, refusal
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path

NAMES = "names"
"""Key of an axis with labels instead of values."""

_LONGEST = 40


class Axis(NamedTuple):
    """One axis: key paths with lists of values of equal length.

    Attributes
    ----------
    values
        Values by position, one for each key path.
    labels
        Label of each position.
    """

    paths: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    labels: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the axis: its first key path."""
        return self.paths[0]


class Position(NamedTuple):
    """Place in a matrix: a position on each axis, with the labels."""

    steps: tuple[int, ...]
    labels: dict[str, str]


def axis_of(declared: Mapping[str, Sequence[Any]]) -> Axis:
    """Return an axis as declared.

    Parameters
    ----------
    declared
        Lists of equal length by key path, and maybe labels under `names`. Labels that are not given
        are made from the values of the first key path.
    """
    paths = tuple(path for path in declared if path != NAMES)
    values = tuple(tuple(declared[path]) for path in paths)
    given = declared.get(NAMES)
    labels = _distinct(map(label_of, values[0])) if given is None else tuple(map(str, given))
    return Axis(paths, values, labels)


def label_of(value: Any) -> str:
    """Return a short label of a value: a plugin's name and its parameters, a file's stem, a text.

    It has letters, digits, `.`, `_`, `+` and `-` alone.
    """
    if isinstance(value, str) and ("/" in value or _FILE.search(value)):
        # At the first dot: `KTH-SP2-1996-2.swf.gz` has two endings, and neither tells cells apart.
        value = PurePath(value).name.partition(".")[0]
    words = "-".join(_words(value))
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", words)[:_LONGEST].strip("-") or "none"


_FILE = re.compile(r"\.(swf|gz|yaml|yml|txt)$")


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _words(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield str(value)


def _distinct(labels: Iterator[str]) -> tuple[str, ...]:
    """Return labels with numbers added to duplicates."""
    distinct: dict[str, None] = {}
    for label in labels:
        numbers = (f"{label}-{n}" for n in itertools.count(2))
        # Values that differ in something a label drops, such as a folder, must not share a cell's
        # name.
        distinct[label if label not in distinct else _first_new(numbers, distinct)] = None
    return tuple(distinct)


def _first_new(candidates: Iterator[str], taken: Mapping[str, None]) -> str:
    return next(candidate for candidate in candidates if candidate not in taken)


def positions(axes: Sequence[Axis], exclude: Sequence[Mapping[str, Any]]) -> Iterator[Position]:
    """Yield the places of a matrix that are not excluded, the last axis fastest.

    Parameters
    ----------
    exclude
        Exclusions: labels by any key path of their axes, one or a list of them. Labels of the same
        axis are OR-ed, labels of different axes AND-ed.
    """
    name = {path: axis.name for axis in axes for path in axis.paths}
    excluded = [
        [(name[path], set(map(str, labels_in(given)))) for path, given in item.items()]
        for item in exclude
    ]
    # In a fixed order, since cells keep it in the index, in tables and in the names of duplicates.
    for steps in itertools.product(*(range(len(axis.labels)) for axis in axes)):
        labels = {axis.name: axis.labels[k] for axis, k in zip(axes, steps, strict=True)}
        if not any(all(labels[axis] in out for axis, out in item) for item in excluded):
            yield Position(steps, labels)


def labels_in(given: Any) -> Sequence[Any]:
    """Return the labels of an exclusion for an axis: those in a list, or the single one."""
    return given if isinstance(given, list) else (given,)


MOST_CELLS = 100_000
"""Largest number of cells; more are taken for a slip."""

Declared = dict[str, Annotated[list[Any], Field(min_length=1)]]
"""An axis as written: lists by key path, and maybe `names`."""


def matrix_refusals(
    matrix: Sequence[Declared],
    exclude: Sequence[Mapping[str, Any]],
    set_before: Sequence[tuple[KeyPath, str]] = (),
    replicas: int = 1,
) -> list[InitErrorDetails]:
    """Return a refusal for everything in a matrix that cannot be expanded, each at its place."""
    places: list[tuple[KeyPath, str]] = [
        (("matrix", n, text), text)
        for n, declared in enumerate(matrix)
        for text in declared
        if text != NAMES
    ]
    refusals = [
        *path_refusals([*set_before, *places]),
        *(r for n, declared in enumerate(matrix) for r in _bad_axis(declared, n)),
    ]
    # Axes of unequal lengths have no positions, so cells can only be counted when all are valid.
    if not refusals:
        axes = tuple(axis_of(declared) for declared in matrix)
        refusals = [*_bad_exclusions(exclude, axes), *_too_many(axes, replicas)]
    return refusals


def clash(path: KeyPath, earlier: KeyPath) -> bool:
    """Return True if setting a key path undoes an earlier setting."""
    # As texts: `groups[0]` and `groups.0` are the same place, and only the scenario knows if the
    # step is a number.
    return tuple(map(str, earlier))[: len(path)] == tuple(map(str, path))


def path_refusals(places: Iterable[tuple[KeyPath, str]]) -> Iterator[InitErrorDetails]:
    """Yield a refusal for each malformed key path, and for each that undoes an earlier one."""
    seen: list[KeyPath] = []
    for at, text in places:
        try:
            path = parse_key_path(text)
        except ValueError as error:
            yield refusal("bad-value", str(error), text, at=at)
            continue
        if path == ("name",):
            message = "cells are named after their labels; 'name' cannot be set"
            yield refusal("bad-value", message, text, at=at)
        undone = next((earlier for earlier in seen if clash(path, earlier)), None)
        if undone is not None:
            message = f"this undoes {show_key_path(undone)}, which is set before it"
            yield refusal("bad-value", message, text, at=at)
        seen.append(path)


def _bad_axis(declared: Declared, n: int) -> Iterator[InitErrorDetails]:
    at: KeyPath = ("matrix", n)
    paths = [text for text in declared if text != NAMES]
    if not paths:
        message = "expected a key path of the scenario with a list of values"
        yield refusal("bad-value", message, declared, at=at)
        return
    length = len(declared[paths[0]])
    for text in declared:
        if len(declared[text]) != length:
            message = (
                f"expected a list of {length} items, as {paths[0]} has,"
                f" found {len(declared[text])}; lists of one axis go together"
            )
            yield refusal("bad-value", message, declared[text], at=(*at, text))
    seen: set[str] = set()
    for k, name in enumerate(declared.get(NAMES, ())):
        # In Python true is an int, and as a label it would be `True`, which nobody wrote.
        if isinstance(name, bool) or not isinstance(name, str | int | float) or not str(name):
            message = f"expected a label, found {found(name)}"
            yield refusal("bad-value", message, name, at=(*at, NAMES, k))
        elif str(name) in seen:
            message = f"the label {str(name)!r} is given twice"
            yield refusal("duplicate-name", message, name, at=(*at, NAMES, k))
        else:
            seen.add(str(name))


def _bad_exclusions(
    exclude: Sequence[Mapping[str, Any]], axes: Sequence[Axis]
) -> Iterator[InitErrorDetails]:
    named = {path: axis for axis in axes for path in axis.paths}
    for n, labels in enumerate(exclude):
        if not labels:
            message = "expected labels by axis, found none: this would leave out every cell"
            yield refusal("bad-value", message, labels, at=("exclude", n))
        for path, label in labels.items():
            at: KeyPath = ("exclude", n, path)
            axis = named.get(path)
            if axis is None:
                message = f"there is no axis {path!r}; there are: {', '.join(named)}"
                yield refusal("bad-value", message, label, at=at)
            elif label == []:
                message = f"expected labels of {path}, found none; leave the key out to mean all"
                yield refusal("bad-value", message, label, at=at)
            else:
                yield from _unknown_labels(axis, path, label, at)


def _unknown_labels(axis: Axis, path: str, given: Any, at: KeyPath) -> Iterator[InitErrorDetails]:
    for k, label in enumerate(labels_in(given)):
        if str(label) not in axis.labels:
            message = f"{path} has no label {str(label)!r}; there are: {', '.join(axis.labels)}"
            yield refusal("bad-value", message, label, at=(*at, k) if given is not label else at)


def _too_many(axes: Sequence[Axis], replicas: int) -> Iterator[InitErrorDetails]:
    count = replicas
    for axis in axes:
        count *= len(axis.labels)
    if count > MOST_CELLS:
        message = f"the matrix has {count:,} cells with replicas; at most {MOST_CELLS:,} are taken"
        yield refusal("bad-value", message, count, at=("matrix",))
