"""Systems that a scenario names instead of declaring: `system: eurora`.

A name stands for a file of that name, with `.yaml` behind it, in a folder `systems` beside the
scenario, or else among those that come with hpcsched. A text that ends in `.yaml` is a path. Keys
beside `include` replace those of the file.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

import hpcsched
from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import expand_variables, given_path, unset_variables
from hpcsched.scenario.document import Document, read_document
from hpcsched.scenario.faults import found
from hpcsched.scenario.key_path import KeyPath, show_key_path

_PACKAGE = Path(hpcsched.__file__).parent
SHIPPED = (_PACKAGE / "systems", _PACKAGE.parent / "scenarios" / "systems")
"""Folders of the systems that come with hpcsched: in an installed package, in a checkout."""

SYSTEM: KeyPath = ("system",)
_INCLUDE = "include"


def names_system(path: KeyPath) -> bool:
    """Return True if a setting of a key path replaces the whole system, and not a part of it."""
    return path in (SYSTEM, (*SYSTEM, _INCLUDE))


def include_system(
    document: Document, folder: Path, environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Replace the name of a system by the keys of its file.

    Yields the faults of the name or of the file.
    """
    root = document.value
    own = root.get("system") if isinstance(root, dict) else None
    if isinstance(own, str):
        key, name, own = SYSTEM, own, {}
    elif isinstance(own, dict) and _INCLUDE in own:
        key, name = (*SYSTEM, _INCLUDE), own[_INCLUDE]
        # Keys beside `include` win, so that a catalogue's system can be varied in one place.
        own = {k: value for k, value in own.items() if k != _INCLUDE}
    else:
        return
    root["system"] = None
    try:
        if not isinstance(name, str):
            raise ValueError(f"expected the name or path of a system, found {found(name)}")
        included = _read_system(_path_of(expand_variables(name, environment), folder))
    except (ValueError, OSError) as error:
        yield Finding("unknown-system", str(error), document.place(key), show_key_path(key))
    except InputError as error:
        yield from error.findings
    else:
        root["system"] = {**included.value, **own}
        for places, theirs in (
            (document.keys, included.keys),
            (document.values, included.values),
        ):
            places |= {(*SYSTEM, *k): theirs[k] for k in theirs if k and k[0] not in own}


def _path_of(name: str, folder: Path) -> Path:
    """Return the file of a name or path; ValueError if there is none."""
    # Looked for after the expansion: a variable that is set leaves no dollar sign behind.
    if unset_variables(name):
        raise ValueError(f"the environment variable {unset_variables(name)[0]} is not set")
    if name.endswith((".yaml", ".yml")):
        path = given_path(name, folder)
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return path
    # A system beside the scenario hides one of the same name that comes with hpcsched.
    known = {
        path.stem: path
        for place in (*reversed(SHIPPED), folder / "systems")
        for path in sorted(place.glob("*.yaml"))
        if path.is_file()
    }
    if name in known:
        return known[name]
    close = get_close_matches(name, sorted(known), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(known))}"
    raise ValueError(f"there is no system {name!r}; {hint}")


def _read_system(path: Path) -> Document:
    document = read_document(path)
    value, findings = document.value, document.findings
    if not findings and not (isinstance(value, dict) and "groups" in value):
        message = "expected a mapping with the key 'groups'"
        findings.append(Finding("bad-value", message, Place(str(path), 1, 1)))
    if findings:
        raise InputError(findings)
    return document
