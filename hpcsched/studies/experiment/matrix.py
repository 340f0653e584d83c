"""Matrix of a file that varies a scenario: axes, and their checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import InitErrorDetails

from hpcsched.scenario.faults import found, refusal
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.studies.experiment.axes import NAMES, Axis, axis_of, labels_in

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
    """Return a refusal for everything in a matrix that cannot be expanded, each at its place.

    Parameters
    ----------
    matrix
        Axes as written, under the key `matrix`.
    exclude
        Exclusions, under the key `exclude`.
    set_before
        Place and text of the key paths that are set in all cells, before those of the axes.
    replicas
        Number of cells for each place in the matrix.
    """
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
    """Yield a refusal for each malformed key path, and for each that undoes an earlier one.

    Parameters
    ----------
    places
        Place in the file and text of each key path, in the order in which they are set.
    """
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
