"""What-if studies: variants of a scenario on the same log, compared job by job with the base."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Listed, Params
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.document import Document, read_document
from hpcsched.scenario.faults import refusal, refuse
from hpcsched.scenario.review import Check
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.cell import Cell, make_cell
from hpcsched.studies.declared_file import (
    DeclaredSetting,
    VariedScenario,
    cell_name,
    declared_setting,
    position_settings,
    told_apart,
    validated,
)
from hpcsched.studies.matrix import (
    Axis,
    Declared,
    axis_of,
    label_of,
    matrix_refusals,
    path_refusals,
    positions,
)


class DeclaredVariant(Params):
    """A variant: the base scenario with other values."""

    name: Name = Field(description="The variant's name.")
    set: dict[str, Any] = Field(
        min_length=1,
        description="Values by key path, as with `--set`: dispatcher.order: sjf.",
    )


class Variation(Params):
    """Variants of a base scenario."""

    name: Name | None = Field(
        default=None, description="The study's name; that of the file by default."
    )
    description: str | None = Field(default=None, description="Purpose of the study.")
    variants: Annotated[tuple[DeclaredVariant, ...], Listed] = Field(
        default=(), description="Variants, each with its own values."
    )
    matrix: Annotated[tuple[Declared, ...], Listed] = Field(
        default=(),
        description=(
            "Axes as in an experiment, crossed with each other: lists of values by key path."
            " Each combination is a variant. `names` are labels."
        ),
    )
    exclude: Annotated[tuple[dict[str, Any], ...], Listed] = Field(
        default=(), description="Combinations of the matrix to leave out: labels by axis."
    )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes of the matrix with their labels."""
        return tuple(axis_of(declared) for declared in self.matrix)

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        """Refuse all values that cannot be expanded, each at its place."""
        refusals = matrix_refusals(self.matrix, self.exclude)
        for n, variant in enumerate(self.variants):
            refusals += path_refusals(
                (("variants", n, "set", text), text) for text in variant.set
            )  # fmt: skip
        if not self.variants and not self.matrix:
            message = "expected 'variants' or a 'matrix', found neither"
            refusals.append(refusal("missing-key", message, None))
        if refusals:
            raise refuse(*refusals)
        return self


SCHEMA_ID = "urn:hpcsched:whatif"


def variation_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of variation files.

    Values are those of scenarios, by key path, and are not described there.
    """
    return model_schema(Variation, registry, (), SCHEMA_ID, "hpcsched what-if study")


BASE = "base"
"""Name of the scenario without changes among its variants."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A validated what-if study.

    Attributes
    ----------
    base
        The scenario without changes.
    variants
        The variants in order; `labels` are labels of the changed values by key path.
    """

    name: str
    scenario: str
    base: Cell
    variants: tuple[Cell, ...] = field(repr=False)
    warnings: tuple[Finding, ...] = field(default=(), repr=False)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The base and its variants."""
        return (self.base, *self.variants)


@dataclass(frozen=True, slots=True)
class _Change:
    """A named change of the base scenario."""

    name: str
    labels: Mapping[str, str]
    settings: Sequence[DeclaredSetting]


def read_whatif(
    scenario: str | os.PathLike[str],
    vary: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    registry: Registry | None = None,
    *,
    check: Check | None = None,
) -> WhatIf:
    """Return the base scenario and its variants.

    Parameters
    ----------
    overrides
        Values of `--set`, which apply to the base and to all variants, before their own changes.
    """
    registry = manager.registry() if registry is None else registry
    places = read_document(Path(vary))
    variation = validated(Variation, places, registry)
    varied = VariedScenario(scenario, registry, check)

    def cell(change: _Change) -> Cell:
        of_cell = varied.checked([*overrides, *change.settings]).scenario
        named = of_cell.model_copy(update={"name": change.name})
        return make_cell(change.labels, 1, named, registry)

    # The base fails at once, since all variants would fail as it does; these are collected.
    base = cell(_Change(BASE, {}, ()))
    variants = []
    for change in _changes(variation, places):
        with varied.collecting():
            variants.append(cell(change))
    varied.refuse(str(vary))
    if not variants:
        place = places.place(("exclude",), on_key=True)
        raise InputError(Finding("bad-value", "every variant is excluded", place, "exclude"))
    name = variation.name or cell_name([Path(vary).stem])
    told_apart([base, *variants])
    scenario_name = varied.with_settings(overrides).scenario.name
    return WhatIf(name, scenario_name, base, tuple(variants), varied.warnings)


def _changes(variation: Variation, places: Document) -> Iterator[_Change]:
    """Yield the variants: the named ones, then those of the matrix."""
    for n, variant in enumerate(variation.variants):
        settings = [
            declared_setting(places, text, value, ("variants", n, "set", text))
            for text, value in variant.set.items()
        ]
        labels = {text: label_of(value) for text, value in variant.set.items()}
        yield _Change(variant.name, labels, settings)
    axes = variation.axes
    # A matrix without axes has one place, which would be the base.
    for position in positions(axes, variation.exclude) if axes else ():
        settings = list(position_settings(axes, position, places))
        yield _Change(cell_name(position.labels.values()), position.labels, settings)
