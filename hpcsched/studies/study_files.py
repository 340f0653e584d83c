"""Files of experiments and of `whatif`: their models, their cells, and choice of cells."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.parameters import InputPath, Listed, Params, Selects
from hpcsched.plugin_faults import raised
from hpcsched.plugins.registry import Registry
from hpcsched.runs.assembly import seed_matters
from hpcsched.scenario import Scenario
from hpcsched.scenario.choices import NamedChoice
from hpcsched.scenario.document import Document, Override, read_document, settings_of
from hpcsched.scenario.faults import refusal, refuse
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.review import Check
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.cell import (
    MOST_CELLS,
    Axis,
    Cell,
    Declared,
    DeclaredSetting,
    Position,
    VariedScenario,
    axis_of,
    cell_name,
    declared_setting,
    label_of,
    make_cells,
    matrix_refusals,
    position_settings,
    positions,
    read_declaration,
    told_apart,
)

_LOCAL: Any = "local"
_SETTINGS = "Values by key path, as with `--set`: dispatcher.order: sjf."


class _Matrix(Params):
    """Axes, crossed with each other: every combination of positions, but for the excluded ones."""

    name: Name | None = None
    """The study's name; that of the file by default."""
    description: str | None = None
    """Purpose of the study."""
    matrix: Annotated[tuple[Declared, ...], Listed] = ()
    """The axes, crossed with each other. An axis has a list of values under a key path of the
    scenario; lists under several key paths go together. `names` are its labels."""
    exclude: Annotated[tuple[dict[str, Any], ...], Listed] = ()
    """Cells to leave out: labels by axis, one or a list of them; an axis is called by one of its
    key paths. Cells that have one of the labels on each of the axes are not run."""
    executor: Annotated[NamedChoice, Selects("executor")] = _LOCAL
    """Executor of the cells: processes of this machine, or a cluster."""

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Axes with their labels."""
        return tuple(map(axis_of, self.matrix))

    def chosen(self, places: Document) -> list[Position]:
        """Return the positions of the cells."""
        found = list(positions(self.axes, self.exclude))
        # A study without cells would end well, with nothing done.
        if not found:
            place = places.place(("exclude",), on_key=True)
            raise InputError(Finding("bad-value", "every cell is excluded", place, "exclude"))
        return found


class ExperimentDeclaration(_Matrix):
    """A base scenario, settings of all cells, and the axes of a matrix.

    Every combination of one position on each axis is a cell, but for the excluded ones.
    """

    name: Name
    """Name of the experiment and of its folder."""
    scenario: InputPath
    """The scenario that all cells start from; relative to this file."""
    set: dict[str, Any] = Field(default_factory=dict, description=_SETTINGS)
    matrix: Annotated[tuple[Declared, ...], Listed, Field(min_length=1)]
    replicas: int = Field(default=1, ge=1, le=MOST_CELLS)
    """Number of runs of each cell: the first with the scenario's seed, the others with seeds
    spawned from it."""

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        places: list[KeyPath] = [("set", text) for text in self.set]
        refusals = matrix_refusals(self.matrix, self.exclude, places, self.replicas)
        if refusals:
            raise refuse(*refusals)
        return self


class DeclaredVariant(Params):
    """A variant: the base scenario with other values."""

    name: Name
    """The variant's name."""
    set: dict[str, Any] = Field(min_length=1, description=_SETTINGS)


class Variation(_Matrix):
    """Variants of a base scenario: named ones, then those of a matrix."""

    variants: Annotated[tuple[DeclaredVariant, ...], Listed] = ()
    """Variants, each with its own values."""

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        places: list[KeyPath] = [
            ("variants", n, "set", text)
            for n, variant in enumerate(self.variants)
            for text in variant.set
        ]
        refusals = matrix_refusals(self.matrix, self.exclude, places)
        if not self.variants and not self.matrix:
            message = "expected 'variants' or a 'matrix', found neither"
            refusals.append(refusal("missing-key", message, None))
        if refusals:
            raise refuse(*refusals)
        return self


def experiment_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of experiments.

    Values in a matrix are those of scenarios, by key path, and are not described there.
    """
    identity = "urn:hpcsched:experiment"
    return model_schema(
        ExperimentDeclaration, registry, ("executor",), identity, "hpcsched experiment"
    )


def variation_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of files of variants."""
    identity = "urn:hpcsched:whatif"
    return model_schema(Variation, registry, ("executor",), identity, "hpcsched what-if study")


@dataclass(frozen=True, slots=True)
class Experiment:
    """A validated study with its cells in order; under `whatif` the first is the base.

    Attributes
    ----------
    changes
        Labels of the values that a what-if study's cells change, by name and key path.
    """

    name: str
    scenario: str
    executor: NamedChoice
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...] = field(repr=False)
    warnings: tuple[Finding, ...] = field(repr=False)
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def is_experiment(path: Path) -> bool:
    """Return True if a file seems to declare an experiment; an unreadable one does not."""
    try:
        value = read_document(path).value
    except InputError:
        return False
    return isinstance(value, dict) and any(key in value for key in ("matrix", "scenario"))


def read_experiment(
    path: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    executor: str | None = None,
    registry: Registry | None = None,
    *,
    check: Check | None = None,
) -> Experiment:
    """Return an experiment with all of its cells."""
    declaration, places, registry = read_declaration(
        ExperimentDeclaration, path, registry, executor
    )
    for setting in settings_of(overrides)[0]:
        if setting.path == ("name",):
            message = "cells are named after their labels; 'name' cannot be set"
            raise InputError(Finding("bad-override", message, setting.source))
    scenario = VariedScenario(declaration.scenario, registry, check)
    cells: list[Cell] = []
    common = _settings(places, declaration.set, ("set",))
    replicas = range(1, declaration.replicas + 1)
    first: Scenario | None = None
    equal: list[str] = []
    for position in declaration.chosen(places):
        settings = position_settings(declaration.axes, position, places)
        with scenario.collecting():
            base = scenario.checked([*common, *settings, *overrides]).scenario
            first = first or base
            parts = list(position.labels.values())
            numbered = [[*parts, f"r{k}"] for k in replicas] if len(replicas) > 1 else [parts]
            cells += make_cells(position.labels, [*map(cell_name, numbered)], base, registry)
            if len(replicas) > 1 and not seed_matters(base, registry):
                equal.append(cell_name(parts))
    if first is not None:
        scenario.add(_reviewed_executor(declaration, first, registry, places))
    scenario.add(_equal_replicas(declaration, equal, len(cells) // len(replicas), places))
    scenario.refuse(str(path))
    return Experiment(
        declaration.name,
        str(declaration.scenario),
        declaration.executor,
        declaration.axes,
        tuple(told_apart(cells)),
        scenario.warnings,
    )


def _settings(places: Document, values: Mapping[str, Any], at: KeyPath) -> list[DeclaredSetting]:
    return [declared_setting(places, text, value, (*at, text)) for text, value in values.items()]


BASE = "base"
"""Name of the scenario without changes among its variants."""


def read_whatif(
    scenario: str | os.PathLike[str],
    vary: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    registry: Registry | None = None,
    *,
    check: Check | None = None,
) -> Experiment:
    """Return the base scenario and its variants as the cells of an experiment.

    Parameters
    ----------
    overrides
        Values of `--set`, which apply to the base and to all variants, before their own changes.
    """
    variation, places, registry = read_declaration(Variation, vary, registry)
    varied = VariedScenario(scenario, registry, check)

    def cell(base: Scenario, name: str) -> Cell:
        return next(make_cells({"variant": name}, [name], base, registry))

    # The base fails at once, since all variants would fail as it does; these are collected.
    base = varied.checked(overrides).scenario
    cells, changes = [cell(base, BASE)], {}
    for name, labels, settings in _changes(variation, places):
        with varied.collecting():
            cells.append(cell(varied.checked([*overrides, *settings]).scenario, name))
            changes[name] = labels
    varied.add(_reviewed_executor(variation, base, registry, places))
    varied.refuse(str(vary))
    told_apart(cells)
    names = tuple(one.name for one in cells)
    return Experiment(
        variation.name or cell_name([Path(vary).stem]),
        base.name,
        variation.executor,
        (Axis(("variant",), (names,), names),),
        tuple(cells),
        varied.warnings,
        changes,
    )


def _changes(
    variation: Variation, places: Document
) -> Iterator[tuple[str, Mapping[str, str], list[DeclaredSetting]]]:
    """Yield name, labels and settings of the variants."""
    for n, variant in enumerate(variation.variants):
        labels = {text: label_of(value) for text, value in variant.set.items()}
        yield variant.name, labels, _settings(places, variant.set, ("variants", n, "set"))
    # A matrix without axes has one place, which would be the base.
    for position in variation.chosen(places) if variation.matrix else ():
        settings = position_settings(variation.axes, position, places)
        yield cell_name(position.labels.values()), position.labels, list(settings)


def _equal_replicas(
    declaration: ExperimentDeclaration, equal: Sequence[str], of: int, places: Document
) -> Iterator[Finding]:
    """Yield a warning if replicas of cells will be equal runs, since nothing in them is random.

    Parameters
    ----------
    equal
        Names of these cells.
    of
        Number of all cells, each without its replicas.
    """
    if not equal:
        return
    which = "all cells" if len(equal) == of else f"{len(equal)} of {of} cells"
    message = (
        f"the seed makes no difference to {which}, such as {equal[0]}: their"
        f" {declaration.replicas} replicas will be equal runs, and intervals over them say nothing"
    )
    yield Finding("equal-replicas", message, places.place(("replicas",)), "replicas", "warning")


def _reviewed_executor(
    declaration: _Matrix, scenario: Scenario, registry: Registry, places: Document
) -> Iterator[Finding]:
    """Yield the findings of the executor's own review, such as a missing package."""
    choice = declaration.executor
    installed = registry.get("executor", choice.plugin_name)
    if installed.plugin.review is None:
        return
    try:
        cautions = list(installed.plugin.review(choice, scenario.system.build()))
    except Exception as error:
        raise PluginError(f"{installed.origin}: its review {raised(error)}") from error
    for caution in cautions:
        key = ("executor", *(parse_key_path(caution.key) if caution.key else ()))
        yield Finding(
            caution.rule, caution.message, places.place(key), show_key_path(key), caution.severity
        )


def choose_cells(experiment: Experiment, labels: Collection[str]) -> Sequence[Cell]:
    """Return the cells with the given labels.

    Labels of the same axis are OR-ed, labels of different axes AND-ed. An axis without a given
    label is left whole, so that no labels select all cells.
    """
    there = list(dict.fromkeys(label for axis in experiment.axes for label in axis.labels))
    for label in labels:
        if label not in there:
            message = f"no axis has a label {label!r}; there are: {', '.join(there)}"
            raise InputError(Finding("unknown-label", message))
    wanted = {axis.name: set(axis.labels).intersection(labels) for axis in experiment.axes}
    chosen = [
        cell
        for cell in experiment.cells
        if all(not some or cell.labels[axis] in some for axis, some in wanted.items())
    ]
    if not chosen:
        message = f"no cell has the labels {', '.join(labels)} together"
        raise InputError(Finding("unknown-label", message))
    return chosen


Number = Annotated[int | float, Field(union_mode="left_to_right")]


class SearchRange(Params):
    """Values of a parameter: all numbers of a range, or those of a list."""

    low: Number | None = None
    """Smallest number of the range."""
    high: Number | None = None
    """Largest number; whole numbers are searched if both are whole."""
    log: bool = False
    """Whether to search by orders of magnitude; `low` is above 0."""
    values: Annotated[tuple[Any, ...], Listed] = ()
    """Values to choose from, in place of a range."""

    @property
    def is_whole(self) -> bool:
        """True for a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def ends(self) -> tuple[Any, ...]:
        """The values of the list, or the ends of the range."""
        return self.values or (self.low, self.high)

    @model_validator(mode="after")
    def _is_a_range_or_a_list(self) -> Self:
        if self.values:
            if self.low is not None or self.high is not None or self.log:
                raise ValueError("expected a range or 'values', found both")
            return self
        if self.low is None or self.high is None:
            raise ValueError("expected 'low' and 'high', or 'values'")
        if self.low >= self.high:
            raise ValueError(f"expected low below high, found {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"expected low above 0 with 'log', found {self.low}")
        return self


class Limit(Params):
    """A constraint: no class of jobs may fare worse than in the base by more than a share."""

    by: Literal["user", "group", "partition", "size"]
    """Kind of the classes of jobs."""
    quantity: Literal["wait_time", "bounded_slowdown"] = "wait_time"
    """Quantity with a limited mean."""
    percent: float = Field(default=5.0, ge=0)
    """Largest increase of a class's mean, in percent."""
    least_jobs: int = Field(default=10, ge=1)
    """Classes with fewer jobs in the window are left out."""


class TuningSpace(Params):
    """Parameters to search, and how."""

    name: Name | None = None
    """The study's name; that of the file by default."""
    description: str | None = None
    """Purpose of the study."""
    parameters: Mapping[str, SearchRange] = Field(min_length=1)
    """Ranges by key path of the scenario: dispatcher.depth."""
    trials: int = Field(default=100, ge=1, le=100_000)
    """Number of trials."""
    train: float = Field(default=0.5, ge=0.05, le=0.95)
    """Share of the jobs, the first ones, on which parameters are searched."""
    constraints: Annotated[tuple[Limit, ...], Listed] = ()
    """Limits that a trial must keep within the training window."""

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        refusals = matrix_refusals((), (), [("parameters", text) for text in self.parameters])
        if refusals:
            raise refuse(*refusals)
        return self


def tuning_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of tuning files.

    Values are those of scenarios, by key path, and are not described there.
    """
    return model_schema(TuningSpace, registry, (), "urn:hpcsched:tuning", "hpcsched tuning")


class TunedScenario:
    """A scenario and the space in which its parameters are searched.

    Parameters
    ----------
    check
        Further check of the scenario as it is, and with the ends of each range.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str],
        space: str | os.PathLike[str],
        overrides: Sequence[str] = (),
        registry: Registry | None = None,
        *,
        check: Check | None = None,
    ) -> None:
        self.space, self._places, registry = read_declaration(TuningSpace, space, registry)
        self.name = self.space.name or cell_name([Path(space).stem])
        self._overrides = overrides
        self._varied = VariedScenario(scenario, registry, check)
        self.base: Scenario = self._varied.checked(overrides).scenario
        ranges = self.space.parameters
        first = {text: range_.ends[0] for text, range_ in ranges.items()}
        for text, range_ in ranges.items():
            for value in range_.ends:
                with self._varied.collecting():
                    self._varied.checked(self._settings({**first, text: value}))
        self._varied.refuse(str(space))
        self.warnings: Sequence[Finding] = self._varied.warnings

    def with_values(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values, by key path."""
        return self._varied.with_settings(self._settings(values)).scenario

    def _settings(self, values: Mapping[str, Any]) -> list[Override]:
        places = self._places
        own = [
            declared_setting(places, text, value, ("parameters", text))
            for text, value in values.items()
        ]
        return [*self._overrides, *own]
