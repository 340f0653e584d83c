"""Experiments: the model of their files, their reading to validated cells, and choice of cells."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.parameters import InputPath, Listed, Params, Selects
from hpcsched.plugin_faults import raised
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.runs.assembly import seed_matters
from hpcsched.scenario.choices import NamedChoice
from hpcsched.scenario.document import (
    Document,
    Setting,
    override_place,
    parse_document,
    read_document,
)
from hpcsched.scenario.faults import refuse
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.scenario.review import Check
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.cell import Cell, make_cell, replica_seed
from hpcsched.studies.declared_file import (
    VariedScenario,
    cell_name,
    declared_setting,
    position_settings,
    told_apart,
    validated,
)
from hpcsched.studies.matrix import (
    MOST_CELLS,
    Axis,
    Declared,
    Position,
    axis_of,
    clash,
    matrix_refusals,
    positions,
)

_LOCAL: Any = "local"


class ExperimentDeclaration(Params):
    """A base scenario, settings of all cells, and the axes of a matrix.

    Every combination of one position on each axis is a cell, but for the excluded ones.
    """

    name: Name = Field(description="Name of the experiment and of its folder.")
    description: str | None = Field(default=None, description="Purpose of the experiment.")
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
            "Number of runs of each cell: the first with the scenario's seed, the others with"
            " seeds spawned from it."
        ),
    )
    executor: Annotated[NamedChoice, Selects("executor")] = Field(
        default=_LOCAL,
        description="Executor of the cells: processes of this machine, or a cluster.",
    )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes with their labels."""
        return tuple(axis_of(declared) for declared in self.matrix)

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        """Refuse axes that cannot be expanded, all at once, each at its place."""
        places: list[tuple[KeyPath, str]] = [(("set", text), text) for text in self.set]
        refusals = matrix_refusals(self.matrix, self.exclude, places, self.replicas)
        if refusals:
            raise refuse(*refusals)
        return self


SCHEMA_ID = "urn:hpcsched:experiment"


def experiment_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of experiments that may use the executors of a registry.

    Values in a matrix are those of scenarios, by key path, and are not described there.
    """
    return model_schema(
        ExperimentDeclaration, registry, ("executor",), SCHEMA_ID, "hpcsched experiment"
    )


KEYS = ("matrix", "scenario")
"""Keys that distinguish an experiment's file from a scenario, which has neither."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A validated experiment: its declaration, and its cells in order."""

    declaration: ExperimentDeclaration
    path: Path
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...] = field(repr=False)
    warnings: tuple[Finding, ...] = field(repr=False)


def is_experiment(path: Path) -> bool:
    """Return True if a file seems to declare an experiment; an unreadable one does not."""
    try:
        value = read_document(path).value
    except InputError:
        return False
    return isinstance(value, dict) and any(key in value for key in KEYS)


def read_experiment(
    path: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    executor: str | None = None,
    registry: Registry | None = None,
    *,
    check: Check | None = None,
) -> Experiment:
    """Return an experiment with all of its cells."""
    registry = manager.registry() if registry is None else registry
    file = Path(path)
    places = read_document(file)
    declaration = _declaration(places, executor, registry)
    axes = declaration.axes
    _check_given(overrides, axes)
    scenario = VariedScenario(declaration.scenario, registry, check)
    cells: list[Cell] = []
    chosen = list(positions(axes, declaration.exclude))
    # An experiment without cells would end well, with nothing done.
    if not chosen:
        message = "every cell is excluded"
        place = places.place(("exclude",), on_key=True)
        raise InputError(Finding("bad-value", message, place, "exclude"))
    common = [
        declared_setting(places, text, value, ("set", text))
        for text, value in declaration.set.items()
    ]
    for position in chosen:
        settings = position_settings(axes, position, places)
        with scenario.collecting():
            loaded = scenario.checked([*common, *settings, *overrides])
            cells += _replicas(loaded, position, declaration.replicas, registry)
    scenario.add(_reviewed_executor(declaration, cells, registry, places))
    scenario.add(_equal_replicas(declaration, cells, registry, places))
    scenario.refuse(str(path))
    return Experiment(declaration, file, axes, tuple(told_apart(cells)), scenario.warnings)


def _declaration(
    document: Document, executor: str | None, registry: Registry
) -> ExperimentDeclaration:
    findings: list[Finding] = []
    root = document.value
    if executor is not None and isinstance(root, dict):
        given = parse_document(executor)
        root["executor"] = given.value
        place = override_place(f"executor={executor}")
        document.override(("executor",), Setting(("executor",), given.value, place))
        findings += [replace(one, place=place, key="executor") for one in given.findings]
    return validated(ExperimentDeclaration, document, registry, findings)


def _check_given(overrides: Sequence[str], axes: Sequence[Axis]) -> None:
    """Check that the settings of the command line leave labels and axes as they are."""
    for text in overrides:
        try:
            path = parse_key_path(text.partition("=")[0].strip())
        except ValueError:
            path = ()  # which reading the first cell refuses
        varied = [name for axis in axes for name in axis.paths]
        undone = [name for name in varied if path and clash(path, parse_key_path(name))]
        if path == ("name",):
            message = "cells are named after their labels; 'name' cannot be set"
            raise InputError(Finding("bad-override", message, override_place(text)))
        if undone:
            message = f"{show_key_path(path)} is varied by the axis {undone[0]}"
            raise InputError(Finding("bad-override", message, override_place(text)))


def _replicas(
    loaded: LoadedScenario, position: Position, replicas: int, registry: Registry
) -> Iterator[Cell]:
    scenario = loaded.scenario
    for replica in range(1, replicas + 1):
        numbered = [f"r{replica}"] if replicas > 1 else []
        name = cell_name([*position.labels.values(), *numbered])
        update = {"name": name, "seed": replica_seed(scenario.seed, replica)}
        yield make_cell(position.labels, replica, scenario.model_copy(update=update), registry)


def _equal_replicas(
    declaration: ExperimentDeclaration,
    cells: Sequence[Cell],
    registry: Registry,
    places: Document,
) -> Iterator[Finding]:
    """Yield a warning if replicas of cells will be equal runs, since nothing in them is random."""
    if declaration.replicas == 1:
        return
    first = [cell for cell in cells if cell.replica == 1]
    equal = [cell for cell in first if not seed_matters(cell.scenario, registry)]
    if not equal:
        return
    which = "all cells" if len(equal) == len(first) else f"{len(equal)} of {len(first)} cells"
    example = cell_name(list(equal[0].labels.values()))
    message = (
        f"the seed makes no difference to {which}, such as {example}: their"
        f" {declaration.replicas} replicas will be equal runs, and intervals over them say nothing"
    )
    yield Finding("equal-replicas", message, places.place(("replicas",)), "replicas", "warning")


def _reviewed_executor(
    declaration: ExperimentDeclaration,
    cells: Sequence[Cell],
    registry: Registry,
    places: Document,
) -> Iterator[Finding]:
    """Yield the findings of the executor's own review, such as a missing package."""
    choice = declaration.executor
    installed = registry.get("executor", choice.plugin_name)
    if installed.plugin.review is None or not cells:
        return
    try:
        cautions = list(installed.plugin.review(choice, cells[0].scenario.system.build()))
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
