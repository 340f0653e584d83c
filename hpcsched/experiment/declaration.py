"""Model of an experiment's file: a base scenario, and axes along which it is varied."""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import InitErrorDetails

from hpcsched.experiment.axes import NAMES, Axis, axis_of, labels_in
from hpcsched.parameters import InputPath, Listed, Params, Selects
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.choices import NamedChoice
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.names import Name
from hpcsched.scenario.refusal import refusal, refuse
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.wording import found

MOST_CELLS = 100_000
"""Largest number of cells; more are taken for a slip."""

_LOCAL: Any = "local"

Declared = dict[str, Annotated[list[Any], Field(min_length=1)]]
"""An axis as written: lists by key path, and maybe `names`."""


class ExperimentDeclaration(Params):
    """A base scenario, settings of all cells, and the axes of a matrix.

    Every combination of one position on each axis is a cell, but for the excluded ones.
    """

    name: Name = Field(description="The experiment's name, which is also its folder's.")
    description: str | None = Field(default=None, description="What the experiment is for.")
    scenario: InputPath = Field(
        description="The scenario that all cells start from; relative to this file."
    )
    set: dict[str, Any] = Field(
        default_factory=dict,
        description="Values for all cells, by key path, as with `--set`: trace.jobs: 1000.",
    )
    matrix: Annotated[tuple[Declared, ...], Listed, Field(min_length=1)] = Field(
        description=(
            "The axes, crossed with each other. An axis has a list of values under a key path of"
            " the scenario; lists under several key paths go together. `names` are its labels."
        )
    )
    exclude: Annotated[tuple[dict[str, Any], ...], Listed] = Field(
        default=(),
        description=(
            "Cells to leave out: labels by axis, one or a list of them; an axis is called by one of"
            " its key paths. Cells that have one of the labels on each of the axes are not run."
        ),
    )
    replicas: int = Field(
        default=1,
        ge=1,
        le=MOST_CELLS,
        description=(
            "How often each cell is run: first with the scenario's seed, then with seeds spawned"
            " from it."
        ),
    )
    executor: Annotated[NamedChoice, Selects("executor")] = Field(
        default=_LOCAL, description="What runs the cells: processes of this machine, or a cluster."
    )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes with their labels."""
        return tuple(axis_of(declared) for declared in self.matrix)

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        """Refuse axes that cannot be expanded, all at once, each at its place."""
        refusals = [
            *_bad_paths(self.set, self.matrix),
            *(r for n, declared in enumerate(self.matrix) for r in _bad_axis(declared, n)),
        ]
        # Axes of unequal lengths have no positions, so their cells can only be counted when all are
        # valid.
        if not refusals:
            axes = self.axes
            refusals = [*_bad_exclusions(self.exclude, axes), *_too_many(axes, self.replicas)]
        if refusals:
            raise refuse(*refusals)
        return self


def clash(path: KeyPath, earlier: KeyPath) -> bool:
    """Return True if setting a key path undoes an earlier setting."""
    # As texts: `groups[0]` and `groups.0` are the same place, and only the scenario knows if the
    # step is a number.
    return tuple(map(str, earlier))[: len(path)] == tuple(map(str, path))


def _bad_paths(
    settings: dict[str, Any], matrix: tuple[Declared, ...]
) -> Iterator[InitErrorDetails]:
    """Yield a refusal for each malformed key path, and for each that undoes an earlier one."""
    places: list[tuple[KeyPath, str]] = [(("set", text), text) for text in settings]
    places += [
        (("matrix", n, text), text)
        for n, declared in enumerate(matrix)
        for text in declared
        if text != NAMES
    ]
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
    exclude: tuple[dict[str, Any], ...], axes: tuple[Axis, ...]
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


def _too_many(axes: tuple[Axis, ...], replicas: int) -> Iterator[InitErrorDetails]:
    count = replicas
    for axis in axes:
        count *= len(axis.labels)
    if count > MOST_CELLS:
        message = f"the matrix has {count:,} cells with replicas; at most {MOST_CELLS:,} are taken"
        yield refusal("bad-value", message, count, at=("matrix",))


SCHEMA_ID = "urn:hpcsched:experiment"


def experiment_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of experiments that may use the executors of a registry.

    Values in a matrix are those of scenarios, by key path, and are not described there.
    """
    return model_schema(
        ExperimentDeclaration, registry, ("executor",), SCHEMA_ID, "hpcsched experiment"
    )
