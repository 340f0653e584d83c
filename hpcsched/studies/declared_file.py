"""Files that vary a scenario: their validation, and settings that point back into them."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.choices import Chooser
from hpcsched.scenario.document import Document
from hpcsched.scenario.faults import faults_of
from hpcsched.scenario.key_path import KeyPath, show_key_path
from hpcsched.scenario.positions import Positions, Setting, by_position
from hpcsched.studies.cell import Cell

_LONGEST_NAME = 100

DeclarationT = TypeVar("DeclarationT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class DeclaredSetting(Setting):
    """A setting in a file that varies a scenario, at the key path `at` of that file.

    A key path that leads nowhere is told at the key, whatever the value: `source` is its place.
    """

    at: KeyPath
    places: Positions

    def place(self, within: KeyPath, *, on_key: bool) -> Place:
        """Return the place of a key path within the value, or of its key."""
        return self.places.place((*self.at, *within), on_key=on_key and bool(within))


def validated(
    model: type[DeclarationT],
    document: Document,
    places: Positions,
    registry: Registry,
    findings: Sequence[Finding] = (),
) -> DeclarationT:
    """Return the declaration in a document.

    Parameters
    ----------
    findings
        Findings so far about what has been put into the document.

    Raises
    ------
    InputError
        If anything is wrong, with all findings.
    """
    file = places.file
    own = [
        Finding(p.rule, p.message, Place(file, *p.mark), show_key_path(p.key))
        for p in document.problems
    ]
    if own or findings:
        raise InputError(by_position([*own, *findings], file))
    known_keys: dict[int, tuple[str, ...]] = {}
    context = {
        "folder": Path(file).parent,
        "environment": os.environ,
        "choose": Chooser(registry),
        "known_keys": known_keys,
    }
    try:
        return model.model_validate(document.value, context=context)
    except ValidationError as error:
        found = [
            Finding(
                fault.rule,
                fault.message,
                places.place(fault.at, on_key=fault.on_key),
                show_key_path(fault.key),
            )
            for fault in faults_of(error, document.value, known_keys)
        ]
        raise InputError(by_position(found, file)) from None


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
    """Return the cells, after a check that their names differ.

    Raises
    ------
    InputError
        If two cells have the same name.
    """
    counts = Counter(cell.name for cell in cells)
    for cell in cells:
        if counts[cell.name] > 1:
            message = f"two cells are called {cell.name!r}; give their axes other 'names'"
            raise InputError(Finding("duplicate-name", message))
    return cells
