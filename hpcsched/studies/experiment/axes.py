"""Axes of an experiment: varied values, position by position, each with a label."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

NAMES = "names"
"""Key of an axis with labels instead of values."""

_LONGEST = 40


class Axis(NamedTuple):
    """One axis: key paths with lists of values of equal length.

    Attributes
    ----------
    paths
        Key paths.
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


_FILE = re.compile(r"\.(swf|gz|yaml|yml|machines|txt)$")


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
    axes
        The axes.
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
