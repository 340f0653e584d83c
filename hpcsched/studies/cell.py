"""Cells of a study: its matrix, the settings of each cell, and the address of its run."""

import hashlib
import itertools
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field
from pydantic_core import InitErrorDetails

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import InputFile
from hpcsched.paths import FileState, file_state
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.runs.assembly import assemble
from hpcsched.runs.manifest import FORMAT, content_sha256, package_versions, sha256
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.document import (
    Document,
    Override,
    Setting,
    by_position,
    override_place,
    parse_document,
    read_document,
)
from hpcsched.scenario.faults import found, refusal
from hpcsched.scenario.key_path import (
    KeyPath,
    blocks,
    marked,
    parse_key_path,
    show_key_path,
    texts,
)
from hpcsched.scenario.loading import LoadedScenario, check_document, validate
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.resolved import resolved_yaml, with_value, workload_key
from hpcsched.scenario.review import Check, missing_inputs, other_format
from hpcsched.studies.executors.executor import TaskFile

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
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _words(item)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif value is not None:
        yield str(value)


def _distinct(labels: Iterator[str]) -> tuple[str, ...]:
    """Return labels with numbers added to duplicates.

    Values that differ in something a label drops, such as a folder, must not share a cell's name.
    """
    distinct: dict[str, None] = {}
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(2))
    for label in labels:
        one = label
        while one in distinct:
            one = f"{label}-{next(numbers[label])}"
        distinct[one] = None
    return tuple(distinct)


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

_Fault = tuple[KeyPath, Any, str]
"""Place of a fault, the value there, and the message."""


def matrix_refusals(
    matrix: Sequence[Declared],
    exclude: Sequence[Mapping[str, Any]],
    others: Iterable[KeyPath] = (),
    replicas: int = 1,
) -> list[InitErrorDetails]:
    """Return a refusal for everything in a matrix that cannot be expanded, each at its place.

    Parameters
    ----------
    others
        Places of further key paths of the scenario: the last step of each is one.
    """
    axes: list[KeyPath] = [("matrix", n, text) for n, axis in enumerate(matrix) for text in axis]
    faults = list(_path_faults([*others, *axes]))
    for n, declared in enumerate(matrix):
        faults += _axis_faults(declared, ("matrix", n))
    # Axes of unequal lengths have no positions, so cells can only be counted when all are valid.
    if not faults:
        faults = list(_expansion_faults(tuple(map(axis_of, matrix)), exclude, replicas))
    return [refusal("bad-value", message, value, at=at) for at, value, message in faults]


def _path_faults(places: Iterable[KeyPath]) -> Iterator[_Fault]:
    for at in places:
        text = str(at[-1])
        try:
            path = parse_key_path(text)
        except ValueError as error:
            yield at, text, str(error)
            continue
        if path == ("name",):
            yield at, text, "cells are named after their labels; 'name' cannot be set"


def _axis_faults(declared: Declared, at: KeyPath) -> Iterator[_Fault]:
    paths = [text for text in declared if text != NAMES]
    if not paths:
        yield at, declared, "expected a key path of the scenario with a list of values"
        return
    length = len(declared[paths[0]])
    for text, values in declared.items():
        if len(values) != length:
            message = (
                f"expected a list of {length} items, as {paths[0]} has, found {len(values)};"
                " lists of one axis go together"
            )
            yield (*at, text), values, message
    seen: set[str] = set()
    for k, name in enumerate(declared.get(NAMES, ())):
        # In Python true is an int, and as a label it would be `True`, which nobody wrote.
        if isinstance(name, bool) or not isinstance(name, str | int | float) or not str(name):
            yield (*at, NAMES, k), name, f"expected a label, found {found(name)}"
        elif str(name) in seen:
            yield (*at, NAMES, k), name, f"the label {str(name)!r} is given twice"
        seen.add(str(name))


def _expansion_faults(
    axes: Sequence[Axis], exclude: Sequence[Mapping[str, Any]], replicas: int
) -> Iterator[_Fault]:
    labels = {path: axis.labels for axis in axes for path in axis.paths}
    for n, item in enumerate(exclude):
        if not item:
            message = "expected labels by axis, found none: this would leave out every cell"
            yield ("exclude", n), item, message
        for path, given in item.items():
            at: KeyPath = ("exclude", n, path)
            if path not in labels:
                yield at, given, f"there is no axis {path!r}; there are: {', '.join(labels)}"
                continue
            if given == []:
                message = f"expected labels of {path}, found none; leave the key out to mean all"
                yield at, given, message
            for k, label in enumerate(labels_in(given)):
                if str(label) not in labels[path]:
                    there = ", ".join(labels[path])
                    message = f"{path} has no label {str(label)!r}; there are: {there}"
                    yield (*at, k) if isinstance(given, list) else at, label, message
    count = replicas * prod(len(axis.labels) for axis in axes)
    if count > MOST_CELLS:
        message = f"the matrix has {count:,} cells with replicas; at most {MOST_CELLS:,} are taken"
        yield ("matrix",), count, message


SOLVER_PACKAGES = ("cpmpy", "ortools", "pychoco", "pumpkin-solver", "z3-solver", "exact")
"""Packages whose version may change the answers of a solver."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of an experiment: little enough that 100,000 of them fit into memory.

    Attributes
    ----------
    name
        Name of the scenario, made of the labels.
    replica
        Number of the replica, from 1.
    seed
        Seed of the scenario.
    text
        The resolved scenario, as YAML.
    workload
        Equal for cells with the same jobs.
    address
        SHA-256 of everything that the results depend on.
    """

    name: str
    labels: Mapping[str, str]
    replica: int
    seed: int
    text: str = field(repr=False)
    workload: str = field(repr=False)
    files: tuple[TaskFile, ...] = field(repr=False)
    address: str

    @property
    def scenario(self) -> Scenario:
        """The scenario, read anew from its text."""
        registry = manager.registry()
        return check_document(parse_document(self.text), self.name, (), registry).scenario


def make_cells(
    labels: Mapping[str, str], names: Sequence[str], scenario: Scenario, registry: Registry
) -> Iterator[Cell]:
    """Yield the cells of a validated scenario: a replica for each of the names.

    What replicas share is looked up once: experiments have tens of thousands of them.
    """
    files = tuple(_input_files(scenario))
    content = _depends_on(files, scenario, registry)
    text, jobs = resolved_yaml(scenario), content_sha256(workload_key(scenario).encode())
    for replica, name in enumerate(names, start=1):
        seed = replica_seed(scenario.seed, replica)
        own = with_value(with_value(text, "name", name), "seed", seed)
        address = content_sha256(json.dumps({**content, "scenario": own}, sort_keys=True).encode())
        yield Cell(name, labels, replica, seed, own, f"{jobs}/{seed}", files, address)


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of a replica: the scenario's own for the first, then spawned from it.

    So the first runs of a cell stay as they are when more replicas are added. A spawned seed is
    below 2⁵³, which JSON holds exactly.
    """
    if replica == 1:
        return seed
    digest = hashlib.sha256(f"{seed}/replica/{replica}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 11


def _input_files(scenario: Scenario) -> list[TaskFile]:
    """Return the input files of a scenario, with the key path of each."""
    found = []
    for path, block in blocks(scenario):
        for name in marked(type(block), InputFile):
            for key, text in texts(getattr(block, name), (*path, name)):
                found.append(TaskFile(show_key_path(key), text, _content_of(text)))
    return found


def _content_of(path: str) -> str:
    """Return the SHA-256 of a file, which is read once for all cells unless it changes."""
    try:
        # A matrix of a thousand cells would read its trace a thousand times.
        return _content_as_of(path, file_state(Path(path)))
    except OSError:
        return sha256(Path(path))  # which says why


@cache
def _content_as_of(path: str, _state: FileState) -> str:
    return sha256(Path(path))


def _depends_on(
    files: tuple[TaskFile, ...], scenario: Scenario, registry: Registry
) -> dict[str, Any]:
    """Return what the results of a scenario depend on, beside its text."""
    choices = [block for _, block in blocks(scenario) if isinstance(block, Choice)]
    packages = package_versions()
    # Scenarios without a solver keep their results, and so their address, when a solver is updated.
    if any(choice.plugin_kind == "solver" for choice in choices):
        packages |= solver_versions()
    return {
        "format": FORMAT,
        "packages": packages,
        "plugins": assemble(scenario, registry).distributions(),
        "files": {file.key: file.sha256 for file in files},
    }


@cache
def solver_versions() -> dict[str, str]:
    """Return the versions of the installed solvers, by package."""
    found = {}
    for name in SOLVER_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # a scenario that names it cannot be run here anyway
    return found


_LONGEST_NAME = 100

DeclarationT = TypeVar("DeclarationT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class DeclaredSetting(Setting):
    """A setting in a file that varies a scenario, at the key path `at` of that file.

    A key path that leads nowhere is told at the key, whatever the value: `source` is its place.
    """

    at: KeyPath
    places: Document

    def place(self, within: KeyPath, *, on_key: bool) -> Place:
        """Return the place of a key path within the value, or of its key."""
        return self.places.place((*self.at, *within), on_key=on_key and bool(within))

    def refuses(self, later: Setting) -> bool:
        """Return True but for `--set` in place of a value that is not of an axis."""
        return self.at[0] == "matrix" or isinstance(later, DeclaredSetting)


def declared_setting(
    places: Document, text: str, value: Any, at: KeyPath, key: KeyPath | None = None
) -> DeclaredSetting:
    """Return the setting of a key path; faults point at `key` of the file, by default at `at`."""
    source = places.place(at if key is None else key, on_key=True)
    return DeclaredSetting(parse_key_path(text), value, source, at, places)


def position_settings(
    axes: Sequence[Axis], position: Position, places: Document
) -> Iterator[DeclaredSetting]:
    """Yield the settings of a position in a file's matrix, axis by axis."""
    for n, (axis, k) in enumerate(zip(axes, position.steps, strict=True)):
        for text, values in zip(axis.paths, axis.values, strict=True):
            key = ("matrix", n, text)
            yield declared_setting(places, text, values[k], (*key, k), key)


class VariedScenario:
    """A scenario that is read once, and validated anew with the values of each cell of a study.

    Cells share most of their findings: each is told once, in the order of the cells.
    """

    def __init__(
        self, path: str | os.PathLike[str], registry: Registry, check: Check | None = None
    ) -> None:
        self._path, self._registry, self._check = path, registry, check
        self._document = read_document(Path(path))
        self._errors: dict[Finding, None] = {}
        self._warnings: dict[Finding, None] = {}

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Warnings of all checks so far."""
        return tuple(self._warnings)

    def with_settings(self, settings: Sequence[Override]) -> LoadedScenario:
        """Return the scenario with other values, without a further check."""
        return check_document(self._document, self._path, settings, self._registry)

    def checked(self, settings: Sequence[Override]) -> LoadedScenario:
        """Return the scenario with other values, after the further check."""
        loaded = self.with_settings(settings)
        found = missing_inputs(loaded, "error")
        if not found:
            found = [*other_format(loaded), *(self._check(loaded) if self._check else ())]
        self._warnings.update((one, None) for one in found if one.severity == "warning")
        errors = dict.fromkeys(one for one in found if one.severity == "error")
        if errors:
            raise InputError(errors)
        return loaded

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings to those of the cells."""
        for one in findings:
            (self._errors if one.severity == "error" else self._warnings)[one] = None

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the findings of an error, to report them together with other cells' findings."""
        try:
            yield
        except InputError as error:
            self.add(error.findings)

    def refuse(self, file: str) -> None:
        """Raise InputError if errors were collected, in the order of their places in a file."""
        if self._errors:
            raise InputError(by_position(self._errors, file))


def read_declaration(
    model: type[DeclarationT],
    file: str | os.PathLike[str],
    registry: Registry | None = None,
    executor: str | None = None,
) -> tuple[DeclarationT, Document, Registry]:
    """Return the declaration in a file, the places of its values, and the registry.

    Parameters
    ----------
    executor
        Value in YAML that takes the place of the key `executor`; None keeps the file's.
    """
    registry = manager.registry() if registry is None else registry
    document = read_document(Path(file))
    wrong = list(document.findings)
    if executor is not None and isinstance(document.value, dict):
        given = parse_document(executor)
        document.value["executor"] = given.value
        place = override_place(f"executor={executor}")
        document.override(("executor",), Setting(("executor",), given.value, place))
        wrong += [replace(one, place=place, key="executor") for one in given.findings]
    if not wrong:
        folder = Path(document.file).parent
        declaration, faults = validate(model, document.value, registry, folder)
        if declaration is not None:
            return declaration, document, registry
        wrong = [document.finding(fault) for fault in faults]
    raise InputError(by_position(wrong, document.file))


def cell_name(parts: Iterable[str]) -> str:
    """Return the name of a scenario made of labels, cut if it is too long.

    Examples
    --------
    >>> cell_name(["easy", "10 more nodes"])
    'easy_10-more-nodes'
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(parts)).lstrip("._-") or "cell"
    return name[:_LONGEST_NAME]


def told_apart(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells, after a check that their names differ."""
    counts = Counter(cell.name for cell in cells)
    for cell in cells:
        if counts[cell.name] > 1:
            message = f"two cells are called {cell.name!r}; give their axes other 'names'"
            raise InputError(Finding("duplicate-name", message))
    return cells
