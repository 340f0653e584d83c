"""YAML as plain values, with the place of each key and value, and settings beside them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import read_file
from hpcsched.scenario.faults import Fault, found
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path

MOST_YAML = 8
"""Maximum size of a YAML file in MiB: far above any use, and read in bounded time and memory."""

_MOST_REPEATED = 10_000
"""Largest number of values repeated by aliases: beyond any use, and far below the memory."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value for a key path of a scenario, from outside its file."""

    path: KeyPath
    value: Any
    source: Place

    def place(self, within: KeyPath, *, on_key: bool) -> Place:
        """Return the place of a key path within the value, or of its key.

        A setting without lines of its own has one place for all.
        """
        return self.source

    def refuses(self, later: "Setting") -> bool:
        """Return whether a later setting of the same place, or above it, is an error."""
        return False


Override = str | Setting
"""A text such as `dispatcher.depth=100`, or the setting that it stands for."""


@dataclass(slots=True)
class Document:
    """Content of a YAML text.

    Attributes
    ----------
    keys, values
        Place by key path.
    settings
        Settings by the key path whose value they have replaced.
    findings
        Faults of the YAML.
    refused
        Key paths of values that could not be read, which are None.
    """

    value: Any = None
    file: str = ""
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    values: dict[KeyPath, Place] = field(default_factory=dict)
    settings: dict[KeyPath, Setting] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    refused: set[KeyPath] = field(default_factory=set)

    def copy(self) -> "Document":
        """Return a copy for other settings; the findings are shared."""
        return replace(
            self,
            value=deepcopy(self.value),
            keys=dict(self.keys),
            values=dict(self.values),
            settings=dict(self.settings),
            refused=set(self.refused),
        )

    def refuse(self, rule: str, message: str, path: KeyPath, place: Place) -> None:
        """Note a value that cannot be read."""
        self.refused.add(path)
        self.findings.append(Finding(rule, message, place, show_key_path(path)))

    def override(self, path: KeyPath, setting: Setting) -> None:
        """Note that the value at `path`, and all below it, comes from a setting."""
        for places in (self.keys, self.values, self.settings):
            for key in [key for key in places if key[: len(path)] == path]:
                del places[key]
        self.settings[path] = setting

    def place(self, path: KeyPath, *, on_key: bool = False) -> Place:
        """Return the place of a value, or of its key; of the nearest one above if it is absent."""
        # The longest path first: the nearest place tells most.
        for length in range(len(path), -1, -1):
            above = path[:length]
            if above in self.settings:
                return self.settings[above].place(path[length:], on_key=on_key)
            # Above the path itself the key is not the faulty one.
            if on_key and length == len(path) and above in self.keys:
                return self.keys[above]
            if above in self.values:
                return self.values[above]
        return Place(self.file)

    def finding(self, fault: Fault) -> Finding:
        """Return a fault with its place."""
        place = self.place(fault.at, on_key=fault.on_key)
        return Finding(fault.rule, fault.message, place, show_key_path(fault.key))


def by_position(findings: Iterable[Finding], file: str) -> list[Finding]:
    """Return findings in the order of their places: those in the file first."""

    def position(finding: Finding) -> tuple[bool, int, int]:
        place = finding.place or Place(file)
        # Python's sort is stable, so findings of equal places, such as overrides, keep their order.
        return (place.file != file, place.line or 0, place.column or 0)

    return sorted(findings, key=position)


def read_text(path: Path, most: int = MOST_YAML) -> str:
    """Return the text of a file.

    Parameters
    ----------
    most
        Maximum size in MiB.

    Raises InputError if it cannot be read, is too large or is not UTF-8.
    """
    try:
        return read_file(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 text: byte {error.start} cannot be decoded"
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"the file cannot be read: {reason[:1].lower()}{reason[1:]}"
    raise InputError(Finding("unreadable-file", message, Place(str(path))))


def read_document(path: Path) -> Document:
    """Return the content of a YAML file; raises InputError if `read_text` does."""
    return parse_document(read_text(path), str(path))


def parse_document(text: str, file: str = "") -> Document:
    """Read a YAML text; if it is unreadable, `value` is None and a finding says why."""
    start = Place(file, 1, 1)
    document = Document(file=file, values={(): start})
    loader = None
    try:
        loader = StrictLoader(text)
        # Nodes and not values: only nodes have the line and column that findings need.
        root = loader.get_node() if loader.check_node() else None
        if loader.check_node():
            message = "a second YAML document starts here; a file holds one scenario"
            second = _place(file, loader.current_event.start_mark)
            document.findings.append(Finding("syntax", message, second))
        if root is not None:
            document.value = _Reading(document).value(root, (), ())
        return document
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(file, before.count("\n") + 1, error.position - before.rfind("\n"))
        message = f"the character U+{error.character:04X} is not allowed"
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(file, mark) if mark else start
        context = f" ({error.context})" if error.context and error.problem else ""
        # The one thing that editors do which YAML forbids.
        if "'\\t'" in str(error.problem):
            context = "; indent with spaces, not with tabs"
        message = f"not valid YAML: {error.problem or error.context}{context}"
    except RecursionError:
        place, message = start, "lists and mappings are nested too deeply"
    except (ValueError, OverflowError):
        # PyYAML lets these through for an escape such as "\UFFFFFFFF" that names no character.
        place = start if loader is None else _place(file, loader.get_mark())
        message = "not valid YAML: an escape names no character"
    document.value = None
    document.refuse("syntax", message, (), place)
    return document


def _place(file: str, mark: Any) -> Place:
    return Place(file, mark.line + 1, mark.column + 1)


class _Reading:
    """Conversion of nodes into values, with a count of repetitions by aliases."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.seen: set[int] = set()
        self.repeated = 0

    def value(self, node: yaml.Node, path: KeyPath, above: tuple[int, ...]) -> Any:
        """Return the value of a node, which stands within the nodes `above`."""
        place = _place(self.document.file, node.start_mark)
        self.document.values[path] = place
        # PyYAML resolves an alias to the node itself. A few kilobytes of nested aliases can stand
        # for billions of values, so repeated visits are counted, and not the size of the text.
        self.repeated += id(node) in self.seen
        if id(node) in above or self.repeated > _MOST_REPEATED:
            message = "aliases repeat this value without end"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)
        self.seen.add(id(node))
        within = (*above, id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return self._mapping(node, path, within)
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
            return [self.value(item, (*path, n), within) for n, item in enumerate(node.value)]
        try:
            return _scalar_value(node.tag, node.value if isinstance(node.value, str) else "")
        except ValueError as error:
            self.document.refuse("bad-value", str(error), path, place)
            return None

    def _mapping(
        self, node: yaml.MappingNode, path: KeyPath, within: tuple[int, ...]
    ) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        keys, findings = self.document.keys, self.document.findings
        for key_node, value_node in node.value:
            place = _place(self.document.file, key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                message = "a list or mapping cannot be a key"
                findings.append(Finding("bad-value", message, place, show_key_path(path)))
                continue
            key = key_node.value
            here = (*path, key)
            if key == "<<" and key_node.style is None:
                message = "merge keys are not part of YAML 1.2; write the keys out"
                findings.append(Finding("merge-key", message, place, show_key_path(here)))
            elif key in mapping:
                message = f"the key {key!r} is given twice; first in line {keys[here].line}"
                findings.append(Finding("duplicate-key", message, place, show_key_path(here)))
            else:
                keys[here] = place
                mapping[key] = self.value(value_node, here, within)
        return mapping


_TAG = "tag:yaml.org,2002:"
_STR, _MAP, _SEQ = f"{_TAG}str", f"{_TAG}map", f"{_TAG}seq"
_NULL, _BOOL, _INT, _FLOAT = f"{_TAG}null", f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float"
_PLAIN = {
    _NULL: re.compile(r"(?:null|Null|NULL|~|)\Z"),
    _BOOL: re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    _INT: re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"),
    _FLOAT: re.compile(
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
}


class StrictLoader(yaml.BaseLoader):
    """Composer of the nodes of a YAML text, with plain values as in YAML 1.2."""


class _WithoutAliases:
    def ignore_aliases(self, _data: Any) -> bool:
        """Return True: aliases would make a file harder to read."""
        return True


class StrictDumper(_WithoutAliases, yaml.SafeDumper):
    """Writer of YAML that means the same in YAML 1.1 and 1.2."""


class FastDumper(_WithoutAliases, getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """`StrictDumper` in C, where that is there; some texts are written in another way."""


for _tag, _pattern in _PLAIN.items():
    StrictLoader.add_implicit_resolver(_tag, _pattern, None)
    # The dumper keeps the patterns of YAML 1.1 beside these and quotes what either would misread.
    for _dumper in (StrictDumper, FastDumper):
        _dumper.add_implicit_resolver(_tag, _pattern, None)


def _scalar_value(tag: str, text: str) -> Any:
    """Return the value of a scalar node.

    Raises ValueError if its tag is outside the core schema, its text does not fit the tag, or the
    meaning of a number depends on the version of YAML.
    """
    if tag == _STR:
        # An escape can make one; encoding it later, in a manifest or a report, would fail far from
        # here.
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError("the text contains half of a surrogate pair, which is no character")
        return text
    short = tag.replace(_TAG, "!!")
    if tag not in _PLAIN:
        raise ValueError(f"the tag {short} is not used in scenarios; write a plain value")
    if not _PLAIN[tag].match(text):
        raise ValueError(f"{text!r} is not a value of the tag {short}")
    if tag == _NULL:
        return None
    if tag == _BOOL:
        return text.lower() == "true"
    # Python refuses to convert over 4,300 digits, with advice about the interpreter's settings.
    if len(text) > 400:
        raise ValueError(f"a number of {len(text)} digits is too long")
    if tag == _FLOAT:
        return float(re.sub(r"\.(?=inf|nan)", "", text.lower()))
    if re.match(r"[-+]?0[0-9]", text):
        raise ValueError(
            f"{text} with a leading zero is octal in YAML 1.1 and decimal in YAML 1.2;"
            " leave the zero out, or quote it if it is a text"
        )
    return int(text, 0)


def override_place(text: str) -> Place:
    """Return the place of a fault in an override: the override itself, on one line."""
    return Place(f"--set {' '.join(text.splitlines())}")


def settings_of(overrides: Iterable[Override]) -> tuple[list[Setting], list[Finding]]:
    """Return overrides as settings, in order, and a finding for each text that is none."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    for override in overrides:
        if isinstance(override, Setting):
            settings.append(override)
            continue
        place = override_place(override)
        # At the first `=` only: a value may have one, as in `description=a=b`.
        key, equals, value = override.partition("=")
        try:
            if not equals:
                raise ValueError("expected key.path=value")
            path = parse_key_path(key.strip())
        except ValueError as error:
            findings.append(Finding("bad-override", str(error), place))
            continue
        document = parse_document(value)
        for one in document.findings:
            within = show_key_path(path) + (f".{one.key}" if one.key else "")
            findings.append(replace(one, place=place, key=within))
        if not document.findings:
            settings.append(Setting(path, document.value, place))
    return settings, findings


def apply_settings(
    document: Document, settings: Iterable[Setting], tags: Mapping[str, str]
) -> Iterator[Finding]:
    """Write each setting into the document, in order; yield a finding for each that fails.

    Parameters
    ----------
    tags
        Keys that name a plugin where it has parameters: a bare name becomes such a mapping when a
        parameter of it is set.
    """
    for setting in settings:
        try:
            _put(document, setting, tags)
        except ValueError as error:
            yield Finding("bad-override", str(error), setting.source)


def _put(document: Document, setting: Setting, tags: Mapping[str, str]) -> None:
    node = document.value
    done: KeyPath = ()
    for step, below in pairwise(setting.path):
        here = _step(node, step, done)
        done = (*done, here)
        if isinstance(node, dict) and here not in node:
            node[here] = {}
            document.override(done, setting)
        # `dispatcher: easy` is short for `dispatcher: {name: easy}`; a parameter needs the long
        # form.
        if isinstance(below, str) and isinstance(node[here], str) and node[here] in tags:
            node[here] = {tags[node[here]]: node[here]}
        node = node[here]
    last = _step(node, setting.path[-1], done)
    whole = (*done, last)
    for path, earlier in document.settings.items():
        if path[: len(whole)] == whole and earlier.refuses(setting):
            raise ValueError(f"this undoes {show_key_path(earlier.path)}, which is set before it")
    # A copy: later settings may write into it, and an experiment gives one value to many cells.
    node[last] = deepcopy(setting.value)
    document.override(whole, setting)


def _step(node: Any, step: str | int, done: KeyPath) -> Any:
    """Return the key or list position of a step at a node; ValueError if it has none."""
    where = show_key_path(done) or "the scenario"
    if isinstance(node, dict):
        if isinstance(step, str):
            return step
        raise ValueError(f"{where} is a mapping; it has keys, not positions such as [{step}]")
    if not isinstance(node, list):
        raise ValueError(
            f"{where} is {found(node)} and not a mapping, so {step!r} cannot be set within it;"
            f" set {where} as a whole"
        )
    if str(step).isdecimal():
        if int(step) < len(node):
            return int(step)
        raise ValueError(f"{where} has {len(node)} items; there is no [{step}]")
    # An item by its name, such as a node group.
    names = [item.get("name") if isinstance(item, dict) else None for item in node]
    if names.count(step) == 1:
        return names.index(step)
    if step in names:
        raise ValueError(f"{where} has {names.count(step)} items called {step!r}; use a position")
    known = ", ".join(dict.fromkeys(name for name in names if isinstance(name, str)))
    wanted = f"a position such as [0]{f', or one of the names {known}' if known else ''}"
    raise ValueError(f"{where} is a list; expected {wanted}, found {step!r}")
