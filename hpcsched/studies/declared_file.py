"""Files that vary a scenario: their validation, and settings that point back into them."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from hpcsched.errors import Finding, InputError, Place
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.document import Document, Override, Setting, by_position, read_document
from hpcsched.scenario.key_path import KeyPath, parse_key_path
from hpcsched.scenario.loading import LoadedScenario, check_document, validate
from hpcsched.scenario.review import Check, missing_inputs, other_format
from hpcsched.studies.cell import Cell
from hpcsched.studies.matrix import Axis, Position

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
        """Keep the findings of an error, so that those of other cells are told beside them."""
        try:
            yield
        except InputError as error:
            self.add(error.findings)

    def refuse(self, file: str) -> None:
        """Raise InputError if errors were collected, in the order of their places in a file."""
        if self._errors:
            raise InputError(by_position(self._errors, file))


def validated(
    model: type[DeclarationT],
    document: Document,
    registry: Registry,
    findings: Sequence[Finding] = (),
) -> DeclarationT:
    """Return the declaration in a document.

    Parameters
    ----------
    findings
        Findings so far about what has been put into the document.
    """
    wrong = [*document.findings, *findings]
    if not wrong:
        folder = Path(document.file).parent
        declaration, faults = validate(model, document.value, registry, folder)
        if declaration is not None:
            return declaration
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
