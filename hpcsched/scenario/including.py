"""Systems that a scenario names instead of declaring: `system: eurora`.

A name stands for a file of that name, with `.yaml` behind it, in a folder `systems` beside the
scenario, or else among those that come with hpcsched. A text that ends in `.yaml` is a path. Keys
beside `include` replace those of the file.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import hpcsched
from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import expand_variables, given_path, unset_variables
from hpcsched.scenario.document import Document, parse_document, read_text
from hpcsched.scenario.faults import found
from hpcsched.scenario.key_path import KeyPath, show_key_path
from hpcsched.scenario.positions import Positions

_PACKAGE = Path(hpcsched.__file__).parent
SHIPPED = (_PACKAGE / "systems", _PACKAGE.parent / "scenarios" / "systems")
"""Folders of the systems that come with hpcsched: in an installed package, in a checkout."""

SYSTEM: KeyPath = ("system",)
_INCLUDE = "include"


def names_system(path: KeyPath) -> bool:
    """Return True if a setting of a key path replaces the whole system, and not a part of it."""
    return path in (SYSTEM, (*SYSTEM, _INCLUDE))


def include_system(
    root: Any, positions: Positions, folder: Path, environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Replace the name of a system by the keys of its file.

    Yields the faults of the name or of the file.
    """
    if not isinstance(root, dict):
        return
    declared = root.get("system")
    if isinstance(declared, str):
        declared = {_INCLUDE: declared}
        key = SYSTEM
    elif isinstance(declared, dict) and _INCLUDE in declared:
        key = (*SYSTEM, _INCLUDE)
    else:
        return
    place = positions.place(key)
    if not isinstance(declared[_INCLUDE], str):
        message = f"expected the name or path of a system, found {found(declared[_INCLUDE])}"
        root["system"] = None
        yield Finding("bad-value", message, place, show_key_path(key))
        return
    # Keys beside `include` win, so that a catalogue's system can be varied in one place.
    own = {k: value for k, value in declared.items() if k != _INCLUDE}
    try:
        path = _path_of(expand_variables(declared[_INCLUDE], environment), folder)
        document = _document(path)
    except ValueError as error:
        root["system"] = None
        yield Finding("unknown-system", str(error), place, show_key_path(key))
        return
    except InputError as error:
        root["system"] = None
        yield from error.findings
        return
    root["system"] = {**document.value, **own}
    document.value = {k: value for k, value in document.value.items() if k not in own}
    for marks in (document.keys, document.values):
        for path_within in [p for p in marks if p and p[0] in own]:
            del marks[path_within]
    positions.include(SYSTEM, str(path), document)


def _path_of(name: str, folder: Path) -> Path:
    """Return the file of a name or path."""
    # Looked for after the expansion: a variable that is set leaves no dollar sign behind.
    if unset_variables(name):
        raise ValueError(f"the environment variable {unset_variables(name)[0]} is not set")
    if name.endswith((".yaml", ".yml")):
        path = given_path(name, folder)
        if not _is_file(path):
            raise ValueError(f"there is no file {path}")
        return path
    places = (folder / "systems", *SHIPPED)
    for place in places:
        path = place / f"{name}.yaml"
        if "/" not in name and _is_file(path):
            return path
    # A set first: a system beside the scenario hides one of the same name that comes with hpcsched.
    known = sorted({path.stem for place in places for path in place.glob("*.yaml")})
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
    raise ValueError(f"there is no system {name!r}; {hint}")


def _is_file(path: Path) -> bool:
    """Return True if a file exists; one with too long a name does not."""
    try:
        return path.is_file()
    except OSError:
        return False


def _document(path: Path) -> Document:
    """Return the content of a system file."""
    document = parse_document(read_text(path))
    findings = [
        Finding(p.rule, p.message, Place(str(path), *p.mark), show_key_path(p.key))
        for p in document.problems
    ]
    if not findings and not isinstance(document.value, dict):
        message = "expected a mapping with the key 'groups'"
        findings.append(Finding("bad-value", message, Place(str(path), 1, 1)))
    if not findings and "groups" not in document.value:
        message = "the key 'groups' is missing"
        findings.append(Finding("missing-key", message, Place(str(path), 1, 1)))
    if findings:
        raise InputError(findings)
    return document
