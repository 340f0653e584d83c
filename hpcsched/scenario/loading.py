"""Loading of scenarios: from a file and overrides to a validated scenario, or to all findings."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

import hpcsched
from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import expand_variables, given_path, unset_variables
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.registration import KINDS
from hpcsched.scenario.choices import Chooser, tag_of
from hpcsched.scenario.document import (
    Document,
    Override,
    Setting,
    apply_settings,
    by_position,
    read_document,
    settings_of,
)
from hpcsched.scenario.faults import Fault, faults_of
from hpcsched.scenario.key_path import KeyPath, parse_key_path
from hpcsched.scenario.models import Scenario, scenario_model
from hpcsched.workload.log_recognition import refuse_log

DICTIONARY = "<dictionary>"
"""Stands for the file of a scenario that is given as a dictionary."""

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario with its file and the place of every key and value."""

    scenario: Scenario
    path: Path
    registry: Registry
    document: Document = field(repr=False)

    def place(self, key_path: str | KeyPath) -> Place:
        """Return the place of the value at a key path, or of the nearest one above it."""
        steps = parse_key_path(key_path) if isinstance(key_path, str) else key_path
        return self.document.place(steps)

    def located(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings of later stages, where those about a key of the scenario have its place.

        Parts know the key that they were built from, and not its line. A finding that points at a
        line, such as one of the log, keeps it.
        """
        return [
            finding
            if (finding.place is not None and finding.place.line is not None)
            or finding.key.replace("[", ".").partition(".")[0] not in Scenario.model_fields
            else replace(finding, place=self.place(finding.key))
            for finding in findings
        ]

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Give errors about keys of the scenario their place; see `located`."""
        try:
            yield
        except InputError as error:
            findings = self.located(error.findings)
            if findings == list(error.findings):
                raise
            raise InputError(findings) from error


def load_scenario(
    path: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Sequence[Override] | Mapping[str, Any] = (),
    registry: Registry | None = None,
) -> Scenario:
    """Return the scenario in a YAML file or an equivalent dictionary.

    Parameters
    ----------
    overrides
        Texts such as `dispatcher.depth=100`, or a dictionary such as `{"dispatcher.depth": 100}`,
        applied in order.
    registry
        Plugins; the installed ones by default.
    """
    if not isinstance(path, str | os.PathLike | Mapping):
        message = (
            "expected the path of a scenario, or a dictionary; found a value of type"
            f" {type(path).__name__}"
        )
        raise InputError(Finding("bad-value", message))
    listed = _listed(overrides)
    if isinstance(path, Mapping):
        return check_document(_document_of(path), DICTIONARY, listed, registry).scenario
    return read_scenario(path, listed, registry).scenario


def _listed(overrides: Sequence[Override] | Mapping[str, Any]) -> Sequence[Override]:
    """Return overrides as a list; a lone text is one override."""
    if isinstance(overrides, str):
        return [overrides]
    if not isinstance(overrides, Mapping):
        return overrides
    settings = []
    for key, value in overrides.items():
        place = Place(f"override {key}")
        try:
            settings.append(Setting(parse_key_path(str(key)), value, place))
        except ValueError as error:
            raise InputError(Finding("bad-override", str(error), place)) from None
    return settings


def _document_of(content: Mapping[str, Any]) -> Document:
    """Return a dictionary as a document; places in it are key paths alone."""
    try:
        # Tuples become lists, and keys become texts, as in a file.
        return Document(json.loads(json.dumps(dict(content))), DICTIONARY)
    except (TypeError, ValueError) as error:
        message = f"expected texts, numbers, truth values, lists and dictionaries: {error}"
        raise InputError(Finding("bad-value", message, Place(DICTIONARY))) from None


def read_scenario(
    path: str | os.PathLike[str],
    overrides: Sequence[Override] = (),
    registry: Registry | None = None,
) -> LoadedScenario:
    """Return the scenario in a YAML file with its places; see `load_scenario`."""
    refuse_log(Path(path))
    return check_document(read_document(Path(path)), path, overrides, registry)


def check_document(
    document: Document,
    path: str | os.PathLike[str],
    overrides: Sequence[Override] = (),
    registry: Registry | None = None,
) -> LoadedScenario:
    """Return the scenario of a document, as if it had been read from a file.

    The document stays as it is: it can be checked again with other overrides.
    """
    loaded, errors = _as_far_as_valid(document, path, overrides, registry)
    if loaded is None or errors:
        raise InputError(errors)
    return loaded


def read_and_check(
    path: Path,
    overrides: Sequence[Override],
    check: Callable[[LoadedScenario], Iterable[Finding]],
) -> tuple[LoadedScenario | None, list[Finding]]:
    """Return the scenario in a YAML file as far as it is valid, and all findings.

    They are its errors and those of `check` about other parts, so that the user mends all at once.
    The scenario lacks unknown keys, and has stand-ins for some bad values; it is None if too much
    of it is wrong.

    Raises InputError if the file cannot be read, or is a log.
    """
    refuse_log(path)
    loaded, errors = _as_far_as_valid(read_document(path), path, overrides, None)
    found = () if loaded is None else check(loaded)
    if not errors:
        return loaded, list(found)
    wrong = tuple(error.key for error in errors if error.key)
    others = [one for one in found if not (one.key and one.key.startswith(wrong))]
    return loaded, by_position([*errors, *others], str(path))


def _as_far_as_valid(
    document: Document,
    path: str | os.PathLike[str],
    overrides: Sequence[Override],
    registry: Registry | None,
) -> tuple[LoadedScenario | None, list[Finding]]:
    # Nothing could be read, so there are no keys to check.
    if () in document.refused:
        raise InputError(document.findings)
    registry = manager.registry() if registry is None else registry
    folder = Path(path).parent
    document = document.copy()
    settings, wrong = settings_of(overrides)
    findings = [*document.findings, *wrong]
    # What names a system comes first: other settings may reach into the system that it names.
    naming = [setting for setting in settings if setting.path == SYSTEM]
    within = [setting for setting in settings if setting.path != SYSTEM]
    tags = {name: tag_of(kind) for kind in KINDS for name in registry.all_names(kind)}
    findings.extend(apply_settings(document, naming, tags))
    unknown = list(_include_system(document, folder))
    findings.extend(unknown)
    # A second finding about the system would follow from the first: its keys are not known.
    if unknown:
        document.refused.add(SYSTEM)
        within = [setting for setting in within if setting.path[:1] != SYSTEM]
    findings.extend(apply_settings(document, within, tags))
    model = scenario_model(registry)
    scenario, faults = validate(model, document.value, registry, folder)
    removed: set[KeyPath] = set()
    while scenario is None:
        findings.extend(
            document.finding(fault)
            for fault in faults
            # A value that could not be read is reported already, and stands as None. A block from
            # which a key was taken may be wrong for want of the key that was meant.
            if not any(fault.at[: len(path)] == path for path in document.refused)
            and all(path[: len(fault.at)] != fault.at for path in removed)
        )
        repaired = _repair(document.value, faults)
        if repaired is None or repaired <= document.refused:
            return None, by_position(findings, str(path))
        document.refused |= repaired
        removed |= repaired
        scenario, faults = validate(model, document.value, registry, folder)
    loaded = LoadedScenario(scenario, Path(path), registry, document)
    return loaded, by_position(findings, str(path))


_PACKAGE = Path(hpcsched.__file__).parent
EXAMPLES = (_PACKAGE / "examples", _PACKAGE.parent / "scenarios")
"""Folders of what comes with hpcsched: in an installed package, in a checkout."""
SHIPPED = tuple(place / "systems" for place in EXAMPLES)

SYSTEM: KeyPath = ("system",)


def _include_system(document: Document, folder: Path) -> Iterator[Finding]:
    """Replace the name of a system by the keys of its file: `system: eurora`.

    Yields the faults of the name or of the file.
    """
    name = document.value.get("system") if isinstance(document.value, dict) else None
    if not isinstance(name, str):
        return
    document.value["system"] = None
    try:
        included = _read_system(_system_path(expand_variables(name, os.environ), folder))
    except (ValueError, OSError) as error:
        yield Finding("unknown-system", str(error), document.place(SYSTEM), "system")
    except InputError as error:
        yield from error.findings
    else:
        document.value["system"] = included.value
        document.keys |= {(*SYSTEM, *key): place for key, place in included.keys.items()}
        document.values |= {(*SYSTEM, *key): place for key, place in included.values.items() if key}


def _system_path(name: str, folder: Path) -> Path:
    """Return the file of a system.

    A name stands for a file of that name, with `.yaml` behind it, in a folder `systems` beside the
    scenario, or else among those that come with hpcsched. A text that ends in `.yaml` is a path.

    Raises ValueError if there is no such file.
    """
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


_STAND_INS: Mapping[str, Any] = {
    "name": "unnamed", "description": "", "seed": 0, "dispatcher": "reject",
    "predictor": "requested-time", "objective": "bounded_slowdown", "metrics": {}, "observers": [],
}  # fmt: skip
"""Values in place of bad ones that no other part of a scenario depends on."""


def _repair(root: Any, faults: Sequence[Fault]) -> set[KeyPath] | None:
    """Replace faulty values, and return their key paths; None if one has no stand-in."""
    repaired: set[KeyPath] = set()
    # Keys are taken out first: a stand-in may leave nothing of the blocks that have them.
    for fault in sorted(faults, key=lambda fault: fault.rule != "unknown-key"):
        first = fault.at[0] if fault.at else ""
        if fault.rule == "unknown-key":
            node = root
            for step in fault.at[:-1]:
                node = node[step]
            # Two faults may be about one key.
            node.pop(fault.at[-1], None)
            repaired.add(fault.at)
        elif first in _STAND_INS:
            root[first] = deepcopy(_STAND_INS[str(first)])
            repaired.add((first,))
        else:
            return None
    return repaired


def validate(
    model: type[ModelT], value: Any, registry: Registry, folder: Path
) -> tuple[ModelT | None, Sequence[Fault]]:
    """Return a model of plain values, or None and the faults.

    Parameters
    ----------
    folder
        Folder at which relative paths start.
    """
    known_keys: dict[int, tuple[str, ...]] = {}
    context = {
        "folder": folder,
        "environment": os.environ,
        "choose": Chooser(registry),
        "known_keys": known_keys,
    }
    try:
        return model.model_validate(value, context=context), ()
    except ValidationError as error:
        return None, faults_of(error, value, known_keys)
